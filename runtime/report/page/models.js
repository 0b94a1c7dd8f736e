// What models cost, and whether what they claimed came true; confirmations.

const noExchanges =
  "No language model was asked in these runs: the built-in moves proposed everything.";

// ---- cost ----
const quantities = {
  tokens: { title: "tokens", value: (row) => row.prompt_tokens + row.reply_tokens, text: count },
  usd: { title: "USD", value: (row) => row.usd, text: dollars },
  seconds: { title: "waiting", value: (row) => row.seconds, text: duration },
  requests: { title: "requests", value: (row) => row.requests, text: count },
};
let quantity = "tokens";

function costTotals() {
  const sum = (key) => data.cost.reduce((total, row) => total + row[key], 0);
  return {
    requests: sum("requests"),
    tokens: sum("prompt_tokens") + sum("reply_tokens"),
    usd: sum("usd"),
    seconds: sum("seconds"),
  };
}

function drawCost() {
  const element = section("cost");
  if (!data.cost.length) return empty(element, noExchanges);
  const total = costTotals(),
    shown = quantities[quantity];
  say(
    element,
    strong(plural(total.requests, "request")),
    ", ",
    strong(count(total.tokens) + " tokens"),
    ", ",
    strong(dollars(total.usd)),
    " (a member without a price counts as 0), ",
    strong(duration(total.seconds)),
    " of waiting for answers, several of which may have run at once.",
  );
  element.append(
    make(
      "div",
      { class: "choices", role: "group", "aria-label": "what is shown" },
      ...Object.entries(quantities).map(([key, each]) =>
        make(
          "button",
          {
            type: "button",
            "aria-pressed": String(key === quantity),
            onclick: () => {
              quantity = key;
              drawCost();
            },
          },
          each.title,
        ),
      ),
    ),
  );
  const kinds = [...new Set(data.cost.map((row) => row.kind))],
    members = [...new Set(data.cost.map((row) => row.member))];
  const at = (member, kind) => data.cost.find((row) => row.member === member && row.kind === kind);
  chart(
    element,
    {
      grid: { left: 84, right: 30, top: 10, bottom: 64 },
      legend: legend(),
      tooltip: {
        trigger: "item",
        formatter: (item) => tip(shown.text(item.value || 0), item.seriesName + ", " + item.name),
      },
      xAxis: axis({
        type: "value",
        name: shown.title,
        nameLocation: "middle",
        nameGap: 26,
        splitNumber: narrow() ? 3 : 6,
        axisLabel: { color: colour("soft"), fontSize: 12.5, formatter: compact },
      }),
      yAxis: axis({
        type: "category",
        inverse: true,
        data: kinds,
        axisTick: { show: false },
        axisLabel: { color: colour("ink"), fontSize: 12.5 },
      }),
      aria: { decal: { show: members.length > 1 } },
      series: members.map((member, index) => ({
        name: member,
        type: "bar",
        stack: "all",
        color: palette(index),
        barMaxWidth: 22,
        data: kinds.map((kind) => {
          const row = at(member, kind);
          return row ? shown.value(row) : 0;
        }),
      })),
    },
    { height: 100 + 34 * kinds.length },
    "Cost and yield as a table",
    [
      ["member"],
      ["kind"],
      ["requests", "number"],
      ["no answer", "number"],
      ["no candidate", "number"],
      ["candidates", "number"],
      ["ok", "number"],
      ["prompt tokens", "number"],
      ["reply tokens", "number"],
      ["USD", "number"],
      ["waiting", "number"],
      ["gains, multiplied", "number"],
    ],
    data.cost.map((row) => [
      row.member,
      row.kind,
      count(row.requests),
      count(row.unanswered),
      count(row.refused),
      count(row.candidates),
      count(row.ok),
      count(row.prompt_tokens),
      count(row.reply_tokens),
      dollars(row.usd),
      duration(row.seconds),
      times(Math.exp(row.gain)),
    ]),
  );
}

// ---- claims ----
function fate(claim) {
  const slack = 1e-9 * Math.abs(claim.measured);
  if (claim.measured < claim.low - slack) return "below";
  return claim.measured > claim.high + slack ? "above" : "within";
}
const fates = {
  within: { title: "within the claim", symbol: "circle", colour: "good" },
  below: { title: "less than claimed", symbol: "triangle", colour: "bad" },
  above: { title: "more than claimed", symbol: "rect", colour: "c0" },
};

function claimGroups() {
  const groups = new Map();
  for (const claim of data.claims.points) {
    const what = claim.what.split(" ")[0];
    const key = what + "\n" + claim.kind;
    const group = groups.get(key) || { what, kind: claim.kind, within: 0, below: 0, above: 0 };
    group[fate(claim)]++;
    groups.set(key, group);
  }
  return [...groups.values()].sort((a, b) =>
    a.what < b.what ? -1 : a.what > b.what ? 1 : a.kind < b.kind ? -1 : 1,
  );
}

function claimSeries(speedups, name) {
  const own = speedups.filter((claim) => fate(claim) === name),
    shade = colour(fates[name].colour);
  const ranges = own.map((claim) => [
    Math.log(claim.measured),
    Math.log(claim.low),
    Math.log(claim.high),
  ]);
  return [
    {
      name: fates[name].title,
      type: "custom",
      data: ranges,
      color: shade,
      encode: { x: 0, y: [1, 2] },
      silent: true,
      renderItem: (parameters, api) => {
        const from = api.coord([api.value(0), api.value(1)]),
          to = api.coord([api.value(0), api.value(2)]);
        return {
          type: "line",
          shape: { x1: from[0], y1: from[1], x2: to[0], y2: to[1] },
          style: { stroke: shade, lineWidth: 2, opacity: 0.75 },
        };
      },
    },
    {
      name: fates[name].title,
      type: "scatter",
      symbol: fates[name].symbol,
      symbolSize: 9,
      color: shade,
      data: own.map((claim) => ({
        claim,
        value: [Math.log(claim.measured), Math.log(Math.sqrt(claim.low * claim.high))],
      })),
    },
  ];
}

function claimTip(item) {
  const claim = item.data.claim;
  return claim
    ? tip(
        "claimed " +
          times(claim.low) +
          " to " +
          times(claim.high) +
          ", came " +
          times(claim.measured),
        claim.candidate >= 0 ? nameOf(claim.candidate) : "",
        claim.kind + ", " + claim.member,
      )
    : "";
}

function drawClaims() {
  const element = section("claims");
  if (!data.claims.points.length)
    return empty(
      element,
      !data.cost.length
        ? noExchanges
        : data.claims.open
          ? "No claim has an outcome yet: " +
            plural(data.claims.open, "claim") +
            " of candidates that were not timed."
          : "No reply claimed an effect.",
    );
  const groups = claimGroups();
  const speedups = data.claims.points.filter(
    (claim) => /^speedup/.test(claim.what) && claim.low > 0 && claim.high > 0 && claim.measured > 0,
  );
  const within = groups.reduce((sum, group) => sum + group.within, 0);
  say(
    element,
    strong(count(within) + " of " + plural(data.claims.points.length, "claim")),
    " came true" +
      (data.claims.open ? "; " + count(data.claims.open) + " more have no outcome" : "") +
      ". A claim is a range that the model " +
      "said the candidate would fall into. Shown for the speed-up over the " +
      "parent: across what came, upwards the range " +
      "that was claimed. A range that meets the diagonal came true.",
  );
  const ends = speedups.flatMap((claim) => [claim.low, claim.high, claim.measured]);
  const [low, high] = span([0.95, 1.05, ...ends]);
  const room = [Math.log(low / 1.06), Math.log(high * 1.08)];
  chart(
    element,
    {
      grid: { left: 64, right: 22, top: 32, bottom: 78 },
      legend: legend({
        data: Object.values(fates).map((each) => ({ name: each.title, icon: each.symbol })),
      }),
      tooltip: { trigger: "item", formatter: claimTip },
      xAxis: logAxis(low, high, {
        name: "speed-up that came",
        nameLocation: "middle",
        nameGap: 28,
      }),
      yAxis: logAxis(low, high, { name: "speed-up claimed", nameLocation: "end" }),
      series: [
        ...Object.keys(fates).flatMap((name) => claimSeries(speedups, name)),
        {
          type: "line",
          data: [
            [room[0], room[0]],
            [room[1], room[1]],
          ],
          symbol: "none",
          silent: true,
          color: colour("mild"),
          lineStyle: { type: "dashed", width: 1.2 },
          z: 0,
        },
      ],
    },
    { height: narrow() ? 360 : 440 },
    "Which kinds of claims hold, as a table",
    [
      ["what"],
      ["kind of request"],
      ["claims", "number"],
      ["within", "number"],
      ["less", "number"],
      ["more", "number"],
      ["came true", "number"],
    ],
    groups.map((group) => {
      const all = group.within + group.below + group.above;
      return [
        group.what,
        group.kind,
        count(all),
        count(group.within),
        count(group.below),
        count(group.above),
        percent(group.within / all),
      ];
    }),
  );
}

// ---- confirmations ----
function drawConfirmations() {
  const element = section("confirmations");
  if (!data.confirmations.length)
    return empty(
      element,
      "No winner was confirmed in these runs: that happens at the end of a run " +
        "whose times come from " +
        "a device.",
    );
  say(
    element,
    "A winner is checked again in a fresh process with fresh inputs, on the shapes of the " +
      "search and on shapes " +
      "held out from it, against what the run began with. It stands if it wins where it is " +
      "chosen or over all; who wins over all must do so on the held-out shapes, too.",
  );
  element.append(
    table(
      [
        ["candidate"],
        ["against"],
        ["verdict"],
        ["where chosen", "number"],
        ["all of the search", "number"],
        ["held out", "number"],
        ["worst shape", "number"],
        ["noise", "number"],
        ["times are"],
        ["why", "wide"],
      ],
      data.confirmations.map((row) => [
        row.id.slice(0, 8),
        row.against.slice(0, 8),
        make(
          "span",
          { class: row.verdict === "ok" ? "good" : "bad" },
          (row.verdict === "ok" ? "✓ " : "✗ ") + row.verdict,
        ),
        row.chosen_shapes
          ? times(row.chosen) + " on " + row.chosen_shapes
          : "–",
        times(row.search),
        times(row.held_out),
        times(row.worst),
        "± " + percent(row.noise),
        row.provenance,
        row.reason || "–",
      ]),
    ),
  );
  drawn_as(element, "text");
}
