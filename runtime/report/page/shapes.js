// The best against the reference on every shape.

function ratio(reference, time) {
  return reference && time
    ? { value: reference[0] / time[0], low: reference[1] / time[2], high: reference[2] / time[1] }
    : null;
}

function intervalSeries(name, entries, offset) {
  return {
    name,
    type: "custom",
    z: 5,
    silent: true,
    tooltip: { show: false },
    itemStyle: { color: colour("ink") },
    data: entries.map((entry, index) =>
      entry && entry.high > entry.low * 1.0001
        ? [Math.log(entry.low), Math.log(entry.high), index]
        : [NaN, NaN, index],
    ),
    encode: { x: [0, 1], y: 2 },
    renderItem: (parameters, api) => {
      if (!isFinite(api.value(0))) return undefined;
      const from = api.coord([api.value(0), api.value(2)]),
        to = api.coord([api.value(1), api.value(2)]);
      const y = from[1] + offset,
        style = { stroke: colour("ink"), lineWidth: 1.4 };
      const line = (x1, y1, x2, y2) => ({ type: "line", shape: { x1, y1, x2, y2 }, style });
      return {
        type: "group",
        children: [
          line(from[0], y, to[0], y),
          line(from[0], y - 3, from[0], y + 3),
          line(to[0], y - 3, to[0], y + 3),
        ],
      };
    },
  };
}

function shapeTip(item) {
  const entry = view.shapes[item.dataIndex];
  const own = item.seriesIndex === 0 ? entry.best : entry.leader;
  const speed = ratio(entry.reference, own);
  return tip(
    shapeText(entry.shape),
    item.seriesName + ": " + times(speed && speed.value),
    speed && speed.high > speed.low * 1.0001
      ? "interval " + times(speed.low) + " to " + times(speed.high)
      : "",
    view.role +
      " " +
      microseconds(entry.reference && entry.reference[0]) +
      ", now " +
      microseconds(own && own[0]),
  );
}

// Times of a simulator whose error is known: what it cannot tell apart is equal.
function modelled() {
  return provenanceOf(view).equal_below > 0;
}
function isEqual(speed) {
  return Math.max(speed, 1 / speed) - 1 < provenanceOf(view).equal_below;
}

function shapeRow(entry) {
  const speed = ratio(entry.reference, entry.best);
  return [
    shapeText(entry.shape),
    microseconds(entry.reference && entry.reference[0]),
    microseconds(entry.best && entry.best[0]),
    ...(modelled() ? [plusMinus(entry.error), count(entry.equal || 0)] : []),
    times(speed && speed.value) +
      (modelled() && speed && isEqual(speed.value) ? " =" : ""),
    speed ? times(speed.low) + " – " + times(speed.high) : "–",
    microseconds(entry.leader && entry.leader[0]),
    entry.bound || "–",
    entry.candidate >= 0 ? shortId(entry.candidate) : "–",
  ];
}

function drawShapes() {
  const element = section("shapes");
  if (!view) return empty(element, noTimes());
  const shown = view.shapes.filter((entry) => entry.reference); // the first ones, all of them
  const missing = view.shapes.length - shown.length;
  say(
    element,
    "Speed-up over the ",
    strong(view.role),
    ", ",
    strong(wordOf(view)),
    ": of the fastest candidate on each " +
      "shape, and of the one candidate that is best over all. Lines at the bars' ends: " +
      "95 % interval, where times have one. " +
      (modelled()
        ? "=: equal within the model's error; equal to it: so many other candidates. "
        : "") +
      "Shapes are m × n × k." +
      (missing
        ? " The " +
          view.role +
          " has no time on " +
          plural(missing, "shape") +
          ": those are in the table alone."
        : ""),
  );
  const best = shown.map((entry) => ratio(entry.reference, entry.best));
  const leader = shown.map((entry) => ratio(entry.reference, entry.leader));
  const values = [...best, ...leader]
    .filter((entry) => entry)
    .flatMap((entry) => [entry.low, entry.high]);
  const bar = (name, entries, index, decal) => ({
    name,
    type: "bar",
    barWidth: 8,
    barGap: "35%",
    color: palette(index),
    itemStyle: { decal, borderRadius: 2 },
    data: entries.map((entry) => (entry ? Math.log(entry.value) : null)),
  });
  chart(
    element,
    {
      grid: { left: narrow() ? 118 : 140, right: 24, top: 30, bottom: 36 },
      legend: legend({ data: ["fastest on the shape", "best over all"] }),
      tooltip: { trigger: "item", formatter: shapeTip },
      xAxis: logAxis(Math.min(1, ...values), Math.max(1.1, ...values), { position: "top" }),
      yAxis: axis({
        type: "category",
        inverse: true,
        data: shown.map((entry) => shapeText(entry.shape)),
        axisTick: { show: false },
        axisLabel: { color: colour("ink"), fontSize: narrow() ? 12 : 12.5, interval: 0 },
      }),
      series: [
        bar("fastest on the shape", best, 0, { symbol: "none" }),
        bar("best over all", leader, 1, {
          symbol: "rect",
          dashArrayX: [1, 0],
          dashArrayY: [2, 3],
          rotation: -Math.PI / 4,
          color: colour("card"),
        }),
        intervalSeries("interval", best, -6),
        intervalSeries("interval", leader, 6),
      ],
    },
    { height: 76 + 30 * shown.length },
    "Times as a table",
    [
      ["m × n × k"],
      [view.role, "number"],
      ["fastest", "number"],
      ...(modelled() ? [["model's error", "number"], ["equal to it", "number"]] : []),
      ["speed-up", "number"],
      ["interval", "number"],
      ["best over all", "number"],
      ["bound"],
      ["candidate"],
    ],
    view.shapes.map(shapeRow),
  );
}
