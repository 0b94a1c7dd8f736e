// Put into a copy of the page by page.sh: looks at what was drawn, and leaves
// what it finds wrong as text in an element of its own.
"use strict";
window.wsFaults = [];
window.addEventListener("error", (event) => window.wsFaults.push("error: " + event.message));
document.addEventListener("securitypolicyviolation", (event) =>
  window.wsFaults.push("policy: " + event.violatedDirective + " " + event.blockedURI),
);
window.alert = () => window.wsFaults.push("a text became a script");

function wsChannels(text) {
  const parts = (text.match(/[\d.]+/g) || []).map(Number);
  return parts.length === 4 && parts[3] === 0 ? null : parts.slice(0, 3);
}
function wsLight(channels) {
  const [red, green, blue] = channels.map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
function wsBehind(element) {
  for (let at = element; at; at = at.parentElement) {
    const channels = wsChannels(getComputedStyle(at).backgroundColor);
    if (channels) return channels;
  }
  return [255, 255, 255];
}

// Text: at least 11 px, contrast at least 4.5 to 1 (WCAG 2 AA).
function wsCheckText() {
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || !element.getClientRects().length || element.tagName === "SCRIPT") continue;
    const style = getComputedStyle(element);
    const [a, b] = [wsLight(wsChannels(style.color)), wsLight(wsBehind(element))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const what =
      element.tagName + "." + element.className + " '" + element.textContent.slice(0, 30) + "'";
    if (contrast < 4.5) window.wsFaults.push("contrast " + contrast.toFixed(1) + " of " + what);
    if (parseFloat(style.fontSize) < 11) window.wsFaults.push("small text in " + what);
  }
}

// Charts: something is painted, in more than one colour.
function wsCheckCharts() {
  for (const canvas of document.querySelectorAll("canvas")) {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const colours = new Set();
    let painted = 0;
    for (let at = 0; at < data.length; at += 4)
      if (data[at + 3]) {
        painted++;
        colours.add((data[at] << 16) | (data[at + 1] << 8) | data[at + 2]);
      }
    if (painted < 1000 || colours.size < 8)
      window.wsFaults.push("an empty chart in " + canvas.closest("section").id);
  }
}

function wsCheckPage() {
  if (document.body.dataset.ready !== "yes") window.wsFaults.push("a part is not drawn");
  wsCheckText();
  wsCheckCharts();
  const { scrollWidth } = document.documentElement;
  if (scrollWidth > window.innerWidth)
    window.wsFaults.push(
      "the page is " + scrollWidth + " px wide, the window " + window.innerWidth,
    );
  for (const section of document.querySelectorAll("main > section")) {
    const shown = section.getClientRects().length > 0;
    const link = document.querySelector('nav a[href="#' + section.id + '"]');
    if (shown === (section.dataset.drawn === "empty"))
      window.wsFaults.push(section.id + " is " + section.dataset.drawn + " and shown: " + shown);
    if (link && link.getClientRects().length > 0 !== shown)
      window.wsFaults.push("the link to " + section.id + " is shown: " + !shown);
    if (!shown && !document.getElementById("why-" + section.id))
      window.wsFaults.push("nothing says why " + section.id + " is left out");
  }
  for (const chart of document.querySelectorAll("div.chart")) {
    const spoken = chart.getAttribute("aria-label") || "";
    const { id } = chart.closest("section");
    if (!spoken) window.wsFaults.push("a chart in " + id + " says nothing");
    if (id === "shapes" && !/\d×/.test(spoken)) window.wsFaults.push("no factor in: " + spoken);
  }
  if (document.querySelector("main img, main script, main iframe"))
    window.wsFaults.push("a text became an element");
}

// Everything that a reader can change, once.
function wsUseChoices() {
  for (const select of document.querySelectorAll("select")) {
    select.selectedIndex = select.options.length - 1;
    select.dispatchEvent(new Event("change"));
  }
  for (const details of document.querySelectorAll("details")) details.open = true;
  document.querySelector("#cost button:last-child")?.click();
  document.getElementById("theme").click();
}

function wsReport(theme) {
  const other = document.documentElement.dataset.theme;
  if (other === theme) window.wsFaults.push("the button does not change the theme");
  if (performance.getEntriesByType("resource").length)
    window.wsFaults.push("something was fetched");
  const result = document.createElement("pre");
  result.id = "ws-result";
  result.textContent = "theme " + theme + "\n";
  for (const section of document.querySelectorAll("main > section"))
    result.textContent += section.id + " " + section.dataset.drawn + "\n";
  result.textContent += window.wsFaults.map((fault) => "FAULT " + fault + "\n").join("") + "end\n";
  document.body.append(result);
}
setTimeout(() => {
  const { theme } = document.documentElement.dataset;
  wsCheckPage();
  wsUseChoices();
  setTimeout(() => {
    wsCheckPage();
    wsReport(theme);
  }, 2500);
}, 2500);
