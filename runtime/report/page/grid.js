// The grid of `evolve`: the best candidate in each cell of two axes.

let gridAxes = null;

// "lds=16-32K tile=..." as a map; null: the candidate has no cell.
function cellOf(candidate) {
  const text = candidates.cell[candidate];
  return text
    ? new Map(
        text
          .split(" ")
          .map((part) => part.split("="))
          .filter((part) => part.length === 2),
      )
    : null;
}
// Bins in order: by their first number (K and M count), words behind.
function binRank(bin) {
  const found = /(\d+(?:\.\d+)?)([KM]?)/.exec(bin);
  if (!found) return Infinity;
  const scale = found[2] === "M" ? 1048576 : found[2] === "K" || /K/.test(bin) ? 1024 : 1;
  return (
    Number(found[1]) * scale + (/^[>≥]|\+$/.test(bin) ? 0.5 : 0) - (/^[<≤]/.test(bin) ? 0.5 : 0)
  );
}
function binsOf(cells, name) {
  const bins = new Set();
  for (const cell of cells.values()) if (cell.has(name)) bins.add(cell.get(name));
  return [...bins].sort((a, b) => binRank(a) - binRank(b) || (a < b ? -1 : 1));
}

function fillGrid(cells, [across, down]) {
  const found = new Map();
  for (const [candidate, cell] of cells) {
    if (!cell.has(across) || !cell.has(down)) continue;
    const key = cell.get(across) + "\n" + cell.get(down);
    const entry = found.get(key) || {
      x: cell.get(across),
      y: cell.get(down),
      count: 0,
      best: -1,
      speedup: null,
    };
    entry.count++;
    const speed = speedOf(candidate);
    if (speed != null && (entry.speedup == null || speed > entry.speedup)) {
      entry.speedup = speed;
      entry.best = candidate;
    }
    found.set(key, entry);
  }
  return [...found.values()];
}

// Between the theme's cold and hot; and a colour of text that can be read there.
function shadeAt(share) {
  const parse = (text) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
  const cold = parse(colour("cold")),
    hot = parse(colour("hot"));
  const mixed = cold.map((value, index) => Math.round(value + (hot[index] - value) * share));
  const linear = mixed.map((value) =>
    (value /= 255) <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4,
  );
  const light = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  return { fill: "rgb(" + mixed.join(",") + ")", text: light > 0.179 ? "#101418" : "#ffffff" };
}

function gridItem(entry, columns, rows, low, high) {
  const share =
    entry.speedup == null
      ? 0
      : high > low
        ? Math.log(entry.speedup / low) / Math.log(high / low)
        : 1;
  const shade = shadeAt(share);
  return {
    value: [columns.indexOf(entry.x), rows.indexOf(entry.y), share],
    entry,
    itemStyle:
      entry.speedup == null
        ? { color: colour("card"), borderColor: colour("line"), borderWidth: 1 }
        : { color: shade.fill, borderColor: colour("card"), borderWidth: 2 },
    label: { color: entry.speedup == null ? colour("soft") : shade.text },
  };
}

function axisChoice(names, which) {
  const select = make(
    "select",
    {
      onchange: (event) => {
        const chosen = event.target.value; // the other one's: they change places
        if (gridAxes[1 - which] === chosen) gridAxes[1 - which] = gridAxes[which];
        gridAxes[which] = chosen;
        drawGrid();
      },
    },
    ...names.map((name) => make("option", { value: name }, name)),
  );
  select.value = gridAxes[which];
  return make("label", { class: "choice" }, which ? "down" : "across", select);
}

function drawGrid() {
  const element = section("grid");
  const cells = new Map();
  for (let candidate = 0; candidate < candidates.count; candidate++) {
    const cell = cellOf(candidate);
    if (cell) cells.set(candidate, cell);
  }
  const names = [...new Set([...cells.values()].flatMap((cell) => [...cell.keys()]))];
  if (names.length < 2)
    return empty(
      element,
      "No candidate of these runs has a cell of the grid: those of strategy evolve have one.",
    );
  gridAxes =
    gridAxes && gridAxes.every((name) => names.includes(name)) ? gridAxes : [names[0], names[1]];
  const columns = binsOf(cells, gridAxes[0]),
    rows = binsOf(cells, gridAxes[1]);
  const entries = fillGrid(cells, gridAxes);
  const speeds = entries.map((entry) => entry.speedup).filter((value) => value != null);
  const low = Math.min(...speeds),
    high = Math.max(...speeds);
  say(
    element,
    "The best speed-up",
    view ? " (" : "",
    view ? strong(wordOf(view)) : "",
    (view ? ")" : "") +
      " among the candidates of each cell, and how many there are. The stronger the colour, " +
      "the faster; cells without " +
      "colour hold none that ranks. The other axes of the grid are summed up.",
  );
  element.append(make("div", { class: "choices" }, axisChoice(names, 0), axisChoice(names, 1)));
  chart(
    element,
    {
      grid: { left: 92, right: 12, top: 28, bottom: 56 },
      tooltip: {
        formatter: (item) =>
          tip(
            gridAxes[0] + " " + item.data.entry.x + ", " + gridAxes[1] + " " + item.data.entry.y,
            plural(item.data.entry.count, "candidate"),
            item.data.entry.best >= 0
              ? "best " + times(item.data.entry.speedup) + ": " + nameOf(item.data.entry.best)
              : "none ranks",
          ),
      },
      xAxis: axis({
        type: "category",
        data: columns,
        name: gridAxes[0],
        nameLocation: "middle",
        nameGap: 32,
        splitLine: { show: false },
        axisTick: { show: false },
        axisLabel: {
          color: colour("ink"),
          interval: 0,
          hideOverlap: false,
          fontSize: 12,
          width: 84,
          overflow: "break",
        },
      }),
      yAxis: axis({
        type: "category",
        data: rows,
        name: gridAxes[1],
        nameLocation: "start",
        inverse: true,
        nameGap: 6,
        splitLine: { show: false },
        axisTick: { show: false },
        axisLabel: { color: colour("ink"), fontSize: 12, width: 84, overflow: "break" },
      }),
      series: [
        {
          type: "heatmap",
          data: entries.map((entry) => gridItem(entry, columns, rows, low, high)),
          label: {
            show: true,
            fontSize: 12.5,
            lineHeight: 16,
            formatter: (item) =>
              (item.data.entry.speedup == null ? "–" : times(item.data.entry.speedup)) +
              "\n" +
              item.data.entry.count,
          },
        },
      ],
    },
    { height: 108 + 48 * rows.length, width: 110 + 74 * columns.length },
    "The cells as a table",
    [[gridAxes[0]], [gridAxes[1]], ["candidates", "number"], ["best", "number"], ["candidate"]],
    entries.map((entry) => [
      entry.x,
      entry.y,
      count(entry.count),
      times(entry.speedup),
      entry.best >= 0 ? shortId(entry.best) : "–",
    ]),
  );
}
