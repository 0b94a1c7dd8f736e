// Best so far over evaluations, a line per run.

function progressSeries(run, index, seen) {
  const points = []; // the steps' corners; those that improve carry a mark
  for (const [place, candidate, speedup] of view.progress[index]) {
    if (points.length)
      points.push({ value: [place, points[points.length - 1].value[1]], symbol: "none" });
    points.push({ value: [place, Math.log(speedup)], candidate, speedup });
  }
  if (points.length)
    points.push({ value: [run.draws.length, points[points.length - 1].value[1]], symbol: "none" });
  const strategies = [...new Set(data.runs.map((each) => each.strategy))];
  const group = strategies.indexOf(run.strategy);
  const shade = palette(group);
  const nth = (seen[run.strategy] = (seen[run.strategy] || 0) + 1);
  const cloud = run.draws
    .map((candidate, place) => [place + 1, view.speedup[candidate], candidate])
    .filter((entry) => entry[1] != null)
    .map(([place, speedup, candidate]) => ({
      value: [place, Math.log(speedup)],
      candidate,
      speedup,
    }));
  return [
    {
      name: runName(run),
      type: "line",
      data: points,
      symbol: symbols[group % 6],
      symbolSize: 8,
      color: shade,
      lineStyle: { width: 2.2, type: dashes[(nth - 1) % dashes.length] },
      z: 3,
    },
    {
      name: runName(run),
      type: "scatter",
      data: cloud,
      symbol: symbols[group % 6],
      symbolSize: 4,
      color: shade,
      itemStyle: { opacity: 0.4 },
      z: 1,
    },
  ];
}

function progressTip(item) {
  const { candidate, speedup } = item.data;
  if (candidate == null) return "";
  const where = drawn[candidate];
  return tip(
    times(speedup) + " over the " + view.role,
    nameOf(candidate),
    runName(data.runs[where.run]) + ", evaluation " + where.place,
    shortId(candidate) + " · " + candidates.verdict[candidate],
  );
}

function drawProgress() {
  const element = section("progress");
  if (!view) return empty(element, noTimes());
  const rows = data.runs.flatMap((run, index) =>
    view.progress[index].map(([place, candidate, speedup]) => [
      runName(run),
      count(place),
      times(speedup),
      shortId(candidate),
      nameOf(candidate),
    ]),
  );
  if (!rows.length)
    return empty(element, "No candidate has a time on all of the reference's shapes yet.");
  const all = view.speedup.filter((value) => value != null);
  say(
    element,
    "Geometric mean of the speed-up over the ",
    strong(view.role),
    " on " + plural(view.shape_count, "shape") + ", ",
    strong(wordOf(view)),
    ". Lines: best so far; dots: each candidate that " +
      "has a time on all of these shapes (" +
      count(all.length) +
      " of " +
      count(candidates.count) +
      ").",
  );
  const seen = {};
  chart(
    element,
    {
      grid: { left: 58, right: 18, top: 34, bottom: 74 },
      legend: legend(),
      tooltip: { trigger: "item", formatter: progressTip },
      xAxis: axis({
        type: "value",
        min: 0,
        max: Math.max(...data.runs.map((run) => run.draws.length)),
        name: "evaluations",
        nameLocation: "middle",
        nameGap: 28,
        minInterval: 1,
      }),
      yAxis: logAxis(...span(all), {
        name: "speed-up",
        nameLocation: "end",
        nameGap: 14,
      }),
      series: data.runs.flatMap((run, index) => progressSeries(run, index, seen)),
    },
    { height: narrow() ? 340 : 420 },
    "Every improvement as a table",
    [["run"], ["evaluation", "number"], ["speed-up", "number"], ["candidate"], ["what", "wide"]],
    rows,
  );
}
