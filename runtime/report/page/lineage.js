// Who came from whom. Thousands of candidates make no readable tree: shown are
// the best, what improved on everything before it, and all their ancestors; the
// other children of each are one folded node.

function keptCandidates() {
  const kept = new Set();
  const keep = (candidate) => {
    for (let at = candidate; at >= 0 && !kept.has(at); at = candidates.parent[at]) kept.add(at);
  };
  if (view) {
    view.top.slice(0, 5).forEach(keep);
    view.progress.forEach((own) => own.slice(-5).forEach((entry) => keep(entry[1])));
  }
  for (let candidate = 0; candidate < candidates.count && !kept.size; candidate++)
    if (candidates.parent[candidate] >= 0 && candidates.verdict[candidate] === "ok")
      keep(candidate);
  return kept;
}

function speedOf(candidate) {
  return view ? view.speedup[candidate] : null;
}

function lineageNode(candidate, childrenOf, kept) {
  const all = childrenOf.get(candidate) || [];
  const folded = all.filter((child) => !kept.has(child));
  const children = all
    .filter((child) => kept.has(child))
    .map((child) => lineageNode(child, childrenOf, kept));
  const isBest = view && view.top[0] === candidate;
  if (folded.length) children.push(foldedNode(folded));
  return {
    name: times(speedOf(candidate)) + (isBest ? " " + shortId(candidate) : ""),
    candidate,
    children,
    symbol: isBest ? "pin" : candidates.second[candidate] >= 0 ? "diamond" : "circle",
    symbolSize: isBest ? 22 : 10,
    itemStyle: { color: isBest ? colour("c1") : colour("c0"), borderColor: colour("card") },
    label: children.length
      ? { position: "top", distance: isBest ? 9 : 4 }
      : { fontWeight: isBest ? 700 : 400 },
  };
}

function foldedNode(folded) {
  return {
    name: "+" + folded.length,
    folded,
    symbol: "circle",
    symbolSize: 7,
    itemStyle: { color: colour("card"), borderColor: colour("mild"), borderWidth: 1.5 },
    label: { color: colour("soft") },
  };
}

function lineageTip(item) {
  const { candidate, folded } = item.data;
  if (folded) {
    const speeds = folded.map(speedOf).filter((value) => value != null);
    return tip(
      count(folded.length) + " more of the same parent",
      verdictWords(folded),
      speeds.length ? "the best of them " + times(Math.max(...speeds)) : "",
    );
  }
  if (candidate == null) return "";
  const second = candidates.second[candidate];
  return tip(
    nameOf(candidate),
    "speed-up " + times(speedOf(candidate)) + (view ? " over the " + view.role : ""),
    candidates.move[candidate] !== nameOf(candidate) ? candidates.move[candidate] : "",
    second >= 0 ? "with " + shortId(second) + ": " + nameOf(second) : "",
    shortId(candidate) + " · " + (candidates.kind[candidate] || candidates.proposer[candidate]),
  );
}
function verdictWords(list) {
  const counts = {};
  for (const candidate of list)
    counts[candidates.verdict[candidate]] = (counts[candidates.verdict[candidate]] || 0) + 1;
  return Object.entries(counts)
    .map(([verdict, number]) => verdict + " " + number)
    .join(", ");
}

function measureTree(node, depth) {
  const sizes =
    node.children && node.children.length
      ? node.children.map((child) => measureTree(child, depth + 1))
      : [{ leaves: 1, depth }];
  return {
    leaves: sizes.reduce((sum, size) => sum + size.leaves, 0),
    depth: Math.max(...sizes.map((size) => size.depth)),
  };
}

function lineageRows(kept) {
  return [...kept]
    .sort((a, b) => a - b)
    .map((candidate) => [
      shortId(candidate),
      candidates.parent[candidate] >= 0 ? shortId(candidates.parent[candidate]) : "–",
      candidates.second[candidate] >= 0 ? shortId(candidates.second[candidate]) : "–",
      times(speedOf(candidate)),
      candidates.verdict[candidate],
      nameOf(candidate),
    ]);
}

function drawLineage() {
  const element = section("lineage");
  const children = candidates.parent.filter((parent) => parent >= 0).length;
  if (!children)
    return empty(element, "No candidate has a parent in these runs: all were drawn on their own.");
  const kept = keptCandidates();
  const childrenOf = new Map();
  for (let candidate = 0; candidate < candidates.count; candidate++) {
    const parent = candidates.parent[candidate];
    if (!childrenOf.has(parent)) childrenOf.set(parent, []);
    childrenOf.get(parent).push(candidate);
  }
  const roots = childrenOf.get(-1) || [];
  const shown = roots.filter(
    (root) => kept.has(root) && (childrenOf.has(root) || (view && view.top.includes(root))),
  );
  const others = roots.filter((root) => !shown.includes(root));
  const root = {
    name: "start",
    symbol: "rect",
    symbolSize: 9,
    itemStyle: { color: colour("mild") },
    children: shown.map((candidate) => lineageNode(candidate, childrenOf, kept)),
  };
  if (others.length) root.children.push(foldedNode(others));
  const size = measureTree(root, 0);
  say(
    element,
    "From left to right; a mark is a candidate with its speed-up" + (view ? " (" : ""),
    view ? strong(wordOf(view)) : "",
    (view ? ")" : "") +
      ". Shown are the best " +
      "(the pin is the very best), the latest improvements and their " +
      "ancestors; “+N” are other children of the same " +
      "parent. Diamonds have two parents.",
  );
  chart(
    element,
    {
      tooltip: { trigger: "item", formatter: lineageTip },
      series: [
        {
          type: "tree",
          data: [root],
          left: 50,
          right: 130,
          top: 14,
          bottom: 14,
          orient: "LR",
          roam: false,
          expandAndCollapse: false,
          initialTreeDepth: -1,
          edgeShape: "curve",
          lineStyle: { color: colour("mild"), width: 1.3, curveness: 0.5 },
          label: {
            position: "right",
            distance: 7,
            color: colour("ink"),
            fontSize: 12,
            backgroundColor: colour("card"),
            padding: [1, 3],
          },
        },
      ],
    },
    { height: Math.min(1800, 60 + 24 * size.leaves), width: 190 + 58 * size.depth },
    "The same as a table",
    [
      ["candidate"],
      ["parent"],
      ["second parent"],
      ["speed-up", "number"],
      ["verdict"],
      ["what", "wide"],
    ],
    lineageRows(kept),
  );
}
