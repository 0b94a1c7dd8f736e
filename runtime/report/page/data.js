// The data document, and how its values are said. Texts of it may come from a
// model: they reach the page through textContent alone, never as markup.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const candidates = data.candidates;

// A view is one provenance and one reference; null: there are no times.
let view = data.views.length ? data.views[0] : null;

const provenanceWords = {
  measured: "measured on a card",
  recorded: "looked up in a table of recorded measurements",
  simulated: "simulated by a cycle model of the card, not measured",
  estimated: "estimated by a formula from the compiled code, not measured",
};

function provenanceOf(aView) {
  return data.provenances[aView.provenance];
}
function wordOf(aView) {
  return provenanceOf(aView).word;
}
function sentenceOf(word) {
  return provenanceWords[word] || word;
}

// ---- numbers ----
function digits(value, count) {
  return Number(value.toPrecision(count)).toLocaleString("en-GB", {
    maximumSignificantDigits: count,
  });
}
function times(value) {
  if (value == null || !(value > 0)) return "–";
  return (value >= 100 ? Math.round(value) : value.toFixed(value >= 10 ? 1 : 2)) + "×";
}
function microseconds(value) {
  return value == null ? "–" : digits(value, 4) + " µs";
}
// The simulator's error, a relative half-width; 0 or nothing: none is known.
function plusMinus(error) {
  return error > 0 ? "±" + percent(error) : "";
}
function count(value) {
  return Math.round(value).toLocaleString("en-GB");
}
function compact(value) {
  return value.toLocaleString("en-GB", { notation: "compact", maximumSignificantDigits: 3 });
}
function dollars(value) {
  return value > 0 && value < 0.01 ? "< 0.01 USD" : value.toFixed(2) + " USD";
}
function duration(seconds) {
  if (seconds < 90) return digits(seconds, 2) + " s";
  return seconds < 5400 ? digits(seconds / 60, 2) + " min" : digits(seconds / 3600, 2) + " h";
}
function percent(share) {
  return (100 * share).toFixed(share < 0.1 ? 1 : 0) + " %";
}
// The least and the greatest; of any number of values.
function span(values) {
  return values.reduce(
    ([low, high], value) => [Math.min(low, value), Math.max(high, value)],
    [Infinity, -Infinity],
  );
}
function plural(number, word) {
  return count(number) + " " + word + (number === 1 ? "" : "s");
}
function shapeText(shape) {
  return shape.join(" × ");
}

// ---- candidates ----
function shortId(candidate) {
  return candidates.id[candidate].slice(0, 8);
}
// What it is called: a model's label, else what was changed, else its origin.
function nameOf(candidate) {
  return (
    candidates.label[candidate] || candidates.move[candidate] || candidates.proposer[candidate]
  );
}
function runName(run) {
  return "run " + run.id + " (" + run.strategy + ")";
}
// By candidate: the first run that drew it, and its place there, from 1.
const drawn = candidates.id.map(() => null);
data.runs.forEach((run, index) =>
  run.draws.forEach((candidate, place) => {
    drawn[candidate] = drawn[candidate] || { run: index, place: place + 1 };
  }),
);
const details = new Map(data.details.map((detail) => [detail.candidate, detail]));

// ---- elements ----
// Children are elements or texts; a text is never parsed.
function make(tag, properties, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(properties || {})) {
    if (key === "class") element.className = value;
    else if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child != null));
  return element;
}
function shorten(text, length) {
  return text.length > length ? text.slice(0, length - 1) + "…" : text;
}
