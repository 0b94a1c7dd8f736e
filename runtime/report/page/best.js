// Text: hot lines, findings, the best candidates in full.

const waitWords = {
  lds: "waits for LDS",
  vmem: "waits for memory",
  smem: "waits for scalar memory",
  barrier: "waits at a barrier",
  mfma: "matrix unit busy or result not ready",
  pipe: "another wave issues",
  fetch: "instruction fetch",
  issue: "issues",
};

// ---- hot lines ----
function meter(share, most) {
  const fill = make("i");
  fill.style.width = (100 * share) / most + "%";
  return make("div", {}, percent(share), make("div", { class: "meter" }, fill));
}

function launchParts(launch) {
  const facts = [
    microseconds(launch.us),
    "bound by " + launch.bound,
    launch.waves_per_simd + " waves per SIMD, limited by " + launch.limiter,
    "matrix units busy " + percent(launch.mfma_busy),
    "LDS busy " + percent(launch.lds_busy),
    "vector memory busy " + percent(launch.vmem_busy),
  ].join(" · ");
  const most = Math.max(...launch.lines.map((line) => line.share), 0.0001);
  return [
    make("h3", {}, launch.kernel),
    make("p", { class: "say" }, facts),
    table(
      [["share"], ["line", "wide"], ["where"], ["mostly"]],
      launch.lines.map((line) => [
        meter(line.share, most),
        make("code", {}, line.source || line.instruction || "(not in the archive)"),
        line.line ? line.file + ":" + line.line : line.region,
        waitWords[line.waits] || line.waits,
      ]),
    ),
  ];
}

function drawHot() {
  const element = section("hot");
  const owner = view
    ? view.top.find((candidate) => details.has(candidate) && details.get(candidate).profile)
    : undefined;
  if (owner === undefined)
    return empty(
      element,
      view
        ? "None of the best candidates has a profile: those that a simulator timed have one."
        : noTimes(),
    );
  const { profile } = details.get(owner),
    provenance = data.provenances[profile.provenance];
  say(
    element,
    "Where the time of ",
    strong(shortId(owner)),
    owner === view.top[0] ? ", the best" : ", the best that has a profile",
    ", goes on " + shapeText(profile.shape) + ", ",
    strong(provenance.word),
    " (" + provenance.name + "). Share: of all waves' time in the launch.",
  );
  for (const launch of profile.launches) element.append(...launchParts(launch));
  drawn_as(element, "text");
}

// ---- findings ----
function drawFindings() {
  const element = section("findings");
  if (!data.findings.length)
    return empty(
      element,
      data.cost.length
        ? "No findings were written: models write them when a run asks for a distillation."
        : noExchanges,
    );
  say(
    element,
    "What a model made of the results so far, in its own words: nothing here was checked.",
  );
  for (const entry of data.findings) {
    const run = data.runs.find((each) => each.id === entry.run);
    element.append(
      make("h3", {}, (run ? runName(run) : "run " + entry.run) + ", version " + entry.version),
      make("pre", { class: "prose", tabindex: "0" }, entry.text),
    );
  }
  drawn_as(element, "text");
}

// ---- the best ----
function changedParameters(detail) {
  const changed = detail.parameters.filter((each) => each.value !== each.default);
  return changed.length
    ? changed.map((each) => each.name + "=" + each.value).join(" ")
    : "all parameters at their defaults";
}

function regionParts(detail) {
  return detail.regions.flatMap((region) =>
    region.text != null
      ? [
          make(
            "h3",
            {},
            "region " +
              region.region +
              ", " +
              (region.language === "opencl" ? "OpenCL C" : "LLVM IR"),
          ),
          make("pre", { tabindex: "0" }, region.text),
        ]
      : [
          make("h3", {}, "region " + region.region + ": " + region.variant),
          make("p", { class: "say" }, region.purpose),
        ],
  );
}

function factParts(detail) {
  if (!detail.kernels.length) return [];
  const facts = [
    ["vgpr", "VGPR"],
    ["agpr", "AGPR"],
    ["sgpr", "SGPR"],
    ["lds_bytes", "LDS bytes"],
    ["scratch_bytes", "scratch bytes"],
    ["vgpr_spills", "spills"],
    ["code_bytes", "code bytes"],
  ];
  return [
    make("h3", {}, "Compiled"),
    table(
      [["kernel"], ...facts.map((fact) => [fact[1], "number"])],
      detail.kernels.map((kernel) => [
        kernel.name,
        ...facts.map((fact) => count(kernel[fact[0]] || 0)),
      ]),
    ),
  ];
}

function timeParts(detail) {
  const own = detail.times.filter((time) => time.provenance === view.provenance);
  return [
    make("h3", {}, "Times, " + wordOf(view)),
    table(
      [["m × n × k"], ["time", "number"], ["interval", "number"], ["bound"]],
      own.map((time) => [
        shapeText(time.shape),
        microseconds(time.us),
        time.high > time.low
          ? digits(time.low, 4) + " – " + digits(time.high, 4)
          : time.error > 0
            ? plusMinus(time.error) + " (model)"
            : "–",
        time.bound || "–",
      ]),
    ),
  ];
}

function ancestry(candidate) {
  const line = [];
  for (
    let at = candidates.parent[candidate];
    at >= 0 && line.length < 40;
    at = candidates.parent[at]
  )
    line.push(shortId(at) + " (" + times(speedOf(at)) + ")");
  return line.length ? "From " + line.join(" ← ") : "It has no parent in these runs.";
}

function bestCard(candidate, place) {
  const detail = details.get(candidate),
    exchange = detail.exchange;
  const card = make(
    "details",
    { class: "card" },
    make(
      "summary",
      {},
      strong(times(view.speedup[candidate])),
      " " + shortId(candidate) + " ",
      make("span", { class: "mild" }, shorten(nameOf(candidate), 90)),
    ),
    make("p", { class: "say" }, candidates.template[candidate] + ": " + changedParameters(detail)),
    make("p", { class: "say" }, ancestry(candidate)),
    ...regionParts(detail),
    ...factParts(detail),
    ...timeParts(detail),
    make(
      "details",
      {},
      make("summary", {}, "All parameters"),
      table(
        [["parameter"], ["value", "number"], ["default", "number"], ["meaning", "wide"]],
        detail.parameters.map((each) => [
          each.name,
          String(each.value),
          String(each.default),
          each.meaning,
        ]),
      ),
    ),
  );
  if (exchange)
    card.append(
      make(
        "details",
        {},
        make(
          "summary",
          {},
          "The reply it came from (" + exchange.kind + ", " + exchange.member + ")",
        ),
        make("pre", { class: "prose", tabindex: "0" }, exchange.reply),
      ),
    );
  card.open = place === 0;
  return card;
}

function drawBest() {
  const element = section("best");
  if (!view) return empty(element, noTimes());
  if (!view.top.length)
    return empty(element, "No candidate has a time on all of the reference's shapes yet.");
  say(
    element,
    "By the geometric mean of the speed-up over the ",
    strong(view.role),
    " on " + plural(view.shape_count, "shape") + ", ",
    strong(wordOf(view)),
    ". Region code and replies are as a model wrote them.",
  );
  element.append(...view.top.map(bestCard));
  drawn_as(element, "text");
}
