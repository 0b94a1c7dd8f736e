// The head of the page, its choices, and the order in which all is drawn.

function noTimes() {
  return data.runs.length
    ? "No correct candidate of these runs has a time."
    : "The archive holds no runs yet: `wavesmith tune` adds one.";
}

// ---- head ----
function tile(value, text) {
  return make("div", { class: "tile" }, make("b", {}, value), make("span", {}, text));
}

function headTiles() {
  const total = data.cost.length ? costTotals() : null;
  const best = view && view.top.length ? view.top[0] : -1;
  return make(
    "div",
    { class: "tiles" },
    best >= 0
      ? tile(times(view.speedup[best]), "over the " + view.role + ", " + wordOf(view))
      : null,
    tile(count(candidates.count), "candidates in " + plural(data.runs.length, "run")),
    tile(
      candidates.count ? percent((data.flow.verdicts.ok || 0) / candidates.count) : "–",
      "of them correct and new",
    ),
    total ? tile(count(total.requests), "requests to models") : null,
    total ? tile(dollars(total.usd), count(total.tokens) + " tokens") : null,
  );
}

function runRows() {
  return data.runs.map((run, index) => {
    const own = view ? view.progress[index] : [];
    return [
      "run " + run.id,
      run.strategy,
      run.shape_set,
      run.seed,
      new Date(run.started_unix_ms).toISOString().slice(0, 10),
      count(run.draws.length),
      own.length ? times(own[own.length - 1][2]) : "–",
    ];
  });
}

function timesSentence() {
  if (!view) return [];
  const provenance = provenanceOf(view),
    others = data.provenances.filter((each) => each !== provenance);
  return [
    make(
      "p",
      { class: "note" },
      strong("Times on this page are " + sentenceOf(provenance.word) + "."),
      " They come from " +
        provenance.name +
        ": " +
        plural(provenance.times, "time") +
        " of " +
        plural(provenance.candidates, "candidate") +
        "." +
        (others.length
          ? " The archive also has times that are " +
            others.map((each) => each.word + " (" + count(each.times) + ")").join(", ") +
            "; they are never mixed: choose at the top."
          : "") +
        modelSentence(provenance),
    ),
  ];
}

// What a simulator's times are worth, by its validation.
function modelSentence(provenance) {
  const equal = provenance.equal_below;
  return equal > 0
    ? " 68 of 100 measured times were within the model's error that the tables give. Kernels " +
        "on one shape whose times differ by less than " +
        percent(equal) +
        " are equal within it: such pairs were measured in this order in " +
        percent(provenance.equal_right / provenance.equal_pairs) +
        " of " +
        count(provenance.equal_pairs) +
        "."
    : "";
}

// A kernel in place of the problem's own reference.
function comparedSentence() {
  const compared = [...new Set(data.runs.map((run) => run.compared).filter(Boolean))];
  return compared.map((each) =>
    make("p", { class: "note" }, "Results were compared with " + each + "."),
  );
}

function drawHead() {
  const element = document.getElementById("head");
  const { problem, layout, target } = data.task;
  const title = problem ? problem + " for " + target : "wavesmith report";
  element.querySelector("h1").textContent = title;
  document.title = problem ? "wavesmith: " + title : title;
  element.querySelector(".say").textContent = problem
    ? "Layout " +
      layout +
      ", archive " +
      data.archive +
      (data.hidden_runs.length
        ? "; " + plural(data.hidden_runs.length, "other run") + " of the archive not shown"
        : "") +
      "."
    : "Archive " + data.archive + ". " + noTimes();
  const body = element.querySelector(".body");
  body.replaceChildren();
  if (!hasCharts)
    body.append(
      make(
        "p",
        { class: "note" },
        "The charts' library is not part of this build of wavesmith, so tables stand in " +
          "for the charts; `./setup.sh` fetches it, then build again.",
      ),
    );
  if (data.runs.length)
    body.append(
      ...timesSentence(),
      ...comparedSentence(),
      headTiles(),
      table(
        [
          ["run"],
          ["strategy"],
          ["shapes"],
          ["seed", "number"],
          ["begun"],
          ["evaluations", "number"],
          ["best", "number"],
        ],
        runRows(),
      ),
    );
  drawn_as(element, "text");
}

// ---- all parts ----
const parts = [
  drawHead,
  drawProgress,
  drawShapes,
  drawLineage,
  drawGrid,
  drawFlow,
  drawHot,
  drawConfirmations,
  drawCost,
  drawClaims,
  drawFindings,
  drawBest,
];

function drawAll() {
  delete document.body.dataset.ready;
  for (const draw of parts) draw();
}

// ---- choices ----
function fillViews() {
  const select = document.getElementById("view");
  if (data.views.length < 2) document.getElementById("view-choice").remove();
  select.append(
    ...data.views.map((each, index) =>
      make(
        "option",
        { value: String(index) },
        wordOf(each) + ", over the " + each.role + " (" + plural(each.shape_count, "shape") + ")",
      ),
    ),
  );
  select.addEventListener("change", () => {
    view = data.views[Number(select.value)];
    drawAll();
  });
}

const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
let chosenTheme = null; // until the button is used, as the system says

function applyTheme() {
  const dark = chosenTheme ? chosenTheme === "dark" : prefersDark.matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  document.getElementById("theme").textContent = dark ? "Light" : "Dark";
}
function changeTheme() {
  applyTheme();
  drawAll();
}

function begin() {
  const nav = document.querySelector("nav");
  for (const heading of document.querySelectorAll("main > section > h2"))
    nav.append(make("a", { href: "#" + heading.parentElement.id }, heading.textContent));
  const licences = document.getElementById("licence-text").textContent.trim();
  if (licences) document.querySelector("#licences pre").textContent = licences;
  else document.getElementById("licences").remove();
  document.getElementById("origin").textContent =
    "Written by wavesmith report from " + data.archive + ".";
  fillViews();
  applyTheme();
  document.getElementById("theme").addEventListener("click", () => {
    chosenTheme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    changeTheme();
  });
  prefersDark.addEventListener("change", changeTheme);
  let width = window.innerWidth,
    pending = 0;
  window.addEventListener("resize", () => {
    clearTimeout(pending);
    if (window.innerWidth !== width)
      pending = setTimeout(() => {
        width = window.innerWidth;
        drawAll();
      }, 150);
  });
  drawAll();
}
begin();
