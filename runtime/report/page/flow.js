// From requests to verdicts.

const flowColours = {
  timed: "good", // measured, simulated or looked up
  "estimated only": "good",
  "ok without a time": "good",
  duplicate: "mild",
  documents: "mild",
  "known already": "mild",
  illegal: "bad",
  no_compile: "bad",
  crash: "bad",
  timeout: "bad",
  wrong: "bad",
  unstable: "bad",
  slow: "mild",
  "no answer": "bad",
  "no candidate": "bad",
};

function flowThrough(name) {
  const sum = (side) =>
    data.flow.links
      .filter((link) => link[side] === name)
      .reduce((total, link) => total + link[2], 0);
  return Math.max(sum(0), sum(1));
}

function drawFlow() {
  const element = section("flow");
  if (!candidates.count && !data.flow.links.length)
    return empty(element, "Nothing was proposed in these runs.");
  const names = [...new Set(data.flow.links.flatMap((link) => [link[0], link[1]]))];
  const sources = new Set(data.flow.links.map((link) => link[0]));
  const verdicts = Object.entries(data.flow.verdicts)
    .map(([verdict, number]) => verdict + " " + count(number))
    .join(", ");
  say(
    element,
    "What became of every request and candidate, step by step. Verdicts: ",
    strong(verdicts || "none"),
    ".",
  );
  chart(
    element,
    {
      tooltip: {
        formatter: (item) =>
          item.dataType === "edge"
            ? tip(count(item.data.value), item.data.source + " → " + item.data.target)
            : tip(count(flowThrough(item.name)), item.name),
      },
      series: [
        {
          type: "sankey",
          left: 8,
          right: 160,
          top: 12,
          bottom: 16,
          nodeAlign: "left",
          nodeGap: 22,
          nodeWidth: 14,
          draggable: false,
          layoutIterations: 48,
          emphasis: { focus: "adjacency" },
          data: names.map((name) => ({
            name,
            itemStyle: { color: colour(flowColours[name] || "c0"), borderWidth: 0 },
          })),
          links: data.flow.links.map(([source, target, value]) => ({ source, target, value })),
          lineStyle: { color: "target", opacity: 0.28, curveness: 0.5 },
          label: {
            color: colour("ink"),
            fontSize: 12.5,
            formatter: (item) =>
              item.name + (sources.has(item.name) ? "\n" : " ") + count(flowThrough(item.name)),
            lineHeight: 15,
            backgroundColor: colour("card"),
            padding: [1, 3],
            borderRadius: 3,
          },
        },
      ],
    },
    { height: 460, width: 900 },
    "The flow as a table",
    [["from"], ["to"], ["candidates or requests", "number"]],
    data.flow.links.map((link) => [link[0], link[1], count(link[2])]),
  );
}
