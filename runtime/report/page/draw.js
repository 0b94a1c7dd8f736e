// Sections, charts and tables. A section shows a chart with its table folded
// below it, or the table alone where the charts' library is not part of the
// page; with nothing to show it is left out, and the foot says why. data-drawn
// says which, once that is done.

let charts = []; // {element, made}
const hasCharts = typeof echarts !== "undefined";

function colour(name) {
  return getComputedStyle(document.documentElement)
    .getPropertyValue("--" + name)
    .trim();
}
const palette = (index) => colour("c" + (index % 6));
const symbols = ["circle", "rect", "triangle", "diamond", "pin", "arrow"];
const dashes = ["solid", [7, 4], [2, 3], [9, 3, 2, 3]];
const narrow = () => window.innerWidth < 640;

function section(id) {
  const element = document.getElementById(id);
  for (const old of charts.filter((each) => each.element === element)) old.made.dispose();
  charts = charts.filter((each) => each.element !== element);
  element.replaceChildren(
    ...[...element.children].filter((child) => /^H[12]$/.test(child.tagName)),
  );
  delete element.dataset.drawn;
  show(element, true);
  document.getElementById("why-" + id)?.remove();
  document.getElementById("left-out").hidden = !document.querySelector("#left-out li");
  return element;
}
function show(element, whether) {
  element.hidden = !whether;
  const link = document.querySelector('nav a[href="#' + element.id + '"]');
  if (link) link.hidden = !whether;
}
function drawn_as(element, how) {
  element.dataset.drawn = how;
  if (![...document.querySelectorAll("main > section")].some((each) => !each.dataset.drawn))
    document.body.dataset.ready = "yes";
}
function say(element, ...parts) {
  element.append(make("p", { class: "say" }, ...parts));
}
function empty(element, sentence) {
  show(element, false);
  const part = strong(element.querySelector("h2").textContent);
  document.querySelector("#left-out ul").append(
    make("li", { id: "why-" + element.id }, part, ": " + sentence),
  );
  document.getElementById("left-out").hidden = false;
  drawn_as(element, "empty");
}
function strong(text) {
  return make("strong", {}, text);
}

// ---- tables ----
// Columns: [heading, class]; cells: texts or elements.
function table(columns, rows) {
  const cell = (tag, index, content) =>
    make(tag, columns[index][1] ? { class: columns[index][1] } : {}, content);
  const head = make("tr", {}, ...columns.map((column, index) => cell("th", index, column[0])));
  const body = rows.map((row) =>
    make("tr", {}, ...row.map((content, index) => cell("td", index, content))),
  );
  return make(
    "div",
    { class: "scroll", tabindex: "0" },
    make("table", {}, make("thead", {}, head), make("tbody", {}, ...body)),
  );
}

// ---- charts ----
function baseOption() {
  return {
    animation: false,
    textStyle: {
      color: colour("ink"),
      fontFamily: getComputedStyle(document.body).fontFamily,
      fontSize: 13,
    },
    tooltip: {
      backgroundColor: colour("card"),
      borderColor: colour("line"),
      confine: true,
      textStyle: { color: colour("ink"), fontSize: 13 },
    },
  };
}
function legend(extra) {
  return Object.assign(
    {
      type: "scroll",
      bottom: 0,
      textStyle: { color: colour("ink"), fontSize: 13 },
      inactiveColor: colour("mild"),
      pageTextStyle: { color: colour("ink") },
      pageIconColor: colour("accent"),
      pageIconInactiveColor: colour("line"),
      itemWidth: 26,
    },
    extra,
  );
}
function axis(extra) {
  return Object.assign(
    {
      axisLine: { onZero: false, lineStyle: { color: colour("line") } },
      axisTick: { lineStyle: { color: colour("line") } },
      axisLabel: { color: colour("soft"), fontSize: 12.5 },
      splitLine: { lineStyle: { color: colour("grid") } },
      nameTextStyle: { color: colour("soft"), fontSize: 12.5 },
    },
    extra,
  );
}

// Numbers that stand well on a logarithmic axis from low to high.
function logTicks(low, high) {
  const ranges = [
    [8, [1]],
    [2.2, [1, 3]],
    [1.2, [1, 2, 5]],
    [0.55, [1, 1.5, 2, 3, 5, 7]],
    [0, [1, 1.1, 1.2, 1.3, 1.5, 1.7, 2, 2.5, 3, 4, 5, 6, 7, 8, 9]],
  ];
  const decades = Math.log10(high / low) * (narrow() ? 2 : 1); // fewer where there is little room
  const steps = ranges.find((range) => decades > range[0])[1];
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++)
    for (const step of steps) {
      const value = step * 10 ** power;
      if (value >= low * 0.999 && value <= high * 1.001) ticks.push(value);
    }
  return ticks.length ? ticks : [low, high];
}
// An axis of logarithms that says the values; for [low, high] with some room.
function logAxis(low, high, extra) {
  const from = low / 1.06,
    to = high * 1.08;
  const ticks = logTicks(from, to).map(Math.log);
  const made = axis(
    Object.assign({ type: "value", min: Math.log(from), max: Math.log(to) }, extra),
  );
  made.axisLabel = Object.assign({}, made.axisLabel, {
    customValues: ticks,
    formatter: (value) => String(Number(Math.exp(value).toPrecision(3))) + "×",
  });
  made.axisTick = Object.assign({}, made.axisTick, { customValues: ticks });
  return made;
}

// The lines of a tooltip; the first stands out.
function tip(...lines) {
  const [first, ...rest] = lines.filter((line) => line);
  return make(
    "div",
    { class: "tip" },
    make("b", {}, first),
    ...rest.map((line) => make("span", {}, line)),
  );
}

// What a screen reader says of a chart: its table's first rows. The library's
// own text would read places on axes, which are logarithms on some.
function spoken(title, columns, rows) {
  const READ = 10;
  const text = (cell) => (cell instanceof Node ? cell.textContent : String(cell));
  const lines = rows
    .slice(0, READ)
    .map((row) => row.map((cell, index) => columns[index][0] + " " + text(cell)).join(", "));
  const more = rows.length > READ ? "; " + (rows.length - READ) + " more rows below" : "";
  return title + ": " + lines.join("; ") + more + ".";
}

// size: height, and the least width below which the chart scrolls.
function chart(element, option, size, title, columns, rows) {
  if (hasCharts) {
    const canvas = make("div", { class: "chart" });
    canvas.style.height = size.height + "px";
    if (size.width) canvas.style.minWidth = size.width + "px";
    element.append(make("div", { class: "scroll" }, canvas));
    const made = echarts.init(canvas, null, { renderer: "canvas" });
    made.on("finished", () => drawn_as(element, "chart"));
    made.setOption(
      Object.assign(baseOption(), option, {
        aria: Object.assign({ enabled: true }, option.aria, {
          label: { description: spoken(title, columns, rows) },
        }),
        tooltip: Object.assign(baseOption().tooltip, option.tooltip),
      }),
    );
    charts.push({ element, made });
  }
  const folded = make("details", {}, make("summary", {}, title), table(columns, rows));
  folded.open = !hasCharts;
  element.append(folded);
  if (!hasCharts) drawn_as(element, "table");
}
