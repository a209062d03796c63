// What the pages gain by a script: word of changes, a clock on what waits, one click instead of two, a few keys. Every
// page works without it. It writes text only, never markup.
(() => {
  "use strict";
  const body = document.body;

  // The host's words, where it has its own. Each placeholder of a text, in braces, has a value of that name.
  const texts = JSON.parse(body.dataset.texts || "{}");
  const t = (text, values = {}) => (texts[text] || text).replace(/\{([a-z]+)\}/g, (_, name) => values[name]);

  // A clock for what waits, by the server's time. It is no live region: nobody wants a count read out each second.
  const served = Date.parse(body.dataset.now), started = Date.now();
  const now = () => served + (Date.now() - started);
  const two = (n) => String(n).padStart(2, "0");
  const seconds = (el) => Math.ceil((Date.parse(el.dataset.ends) - now()) / 1000);
  const tick = () => {
    for (const el of document.querySelectorAll("[data-ends]")) {
      const s = seconds(el);
      let text = t("expired");
      if (s >= 172800) text = t("{days} days left", { days: Math.floor(s / 86400) });
      else if (s >= 3600) text = t("{hours} h {minutes} min left", { hours: Math.floor(s / 3600), minutes: two(Math.floor(s / 60) % 60) });
      else if (s >= 60) text = t("{minutes} min {seconds} s left", { minutes: Math.floor(s / 60), seconds: two(s % 60) });
      else if (s > 0) text = t("{seconds} s left", { seconds: s });
      if (el.textContent !== text) el.textContent = text;
      if (el === clock) tell(s);
      if (s <= 0) el.dispatchEvent(new CustomEvent("over", { bubbles: true }));
    }
  };
  const lock = (text) => {
    const panel = document.getElementById("decide");
    if (!panel || panel.dataset.locked || panel.querySelector("form[data-sent]")) return; // what this page sent, it will hear of
    panel.dataset.locked = "yes";
    for (const b of panel.querySelectorAll("button")) if (!b.dataset.after) b.disabled = true;
    say(text);
  };
  // Whoever hears the page hears twice that its time goes by, if it was open before.
  const clock = document.querySelector("#decide [data-ends]"), herald = document.getElementById("herald");
  const marks = [[300, t("At most 5 minutes are left to decide.")], [60, t("At most 1 minute is left to decide.")]].filter(([mark]) => clock && seconds(clock) > mark);
  const tell = (s) => {
    let text = "";
    while (marks.length && s <= marks[0][0]) text = marks.shift()[1];
    if (text && s > 0 && !document.getElementById("decide").dataset.locked) herald.textContent = text;
  };
  document.addEventListener("over", () => lock(t("The time to approve this is over.")));
  if (document.querySelector("[data-ends]")) { tick(); setInterval(tick, 1000); }

  // What happened meanwhile appears as a line to click; rows never move by themselves.
  const line = document.querySelector("#news > .say");
  const say = (text, link) => {
    if (!line) return;
    line.hidden = false;
    line.firstElementChild.textContent = text;
    line.querySelector("a").hidden = !link;
  };
  let fresh = 0, stream = null, place = body.dataset.after, pause = 5000;
  const deaf = t("This page does not hear of changes at present.");
  const id = body.dataset.proposal || "";
  const heard = (e) => {
    let change = {};
    place = e.lastEventId || place;
    try { change = JSON.parse(e.data); } catch { return; }
    if (id) {
      if (change.proposal !== id) return;
      if (change.event === "dismissed" || change.event === "started") lock(t("Somebody decided this meanwhile."));
      else if (change.event !== "finished") say(t("Something happened to this: {event}.", { event: t(change.event) }), true);
      line.querySelector("a").hidden = false;
      return;
    }
    if (body.dataset.live === "inbox") { fresh++; say(fresh === 1 ? t("1 change since this page was made.") : t("{number} changes since this page was made.", { number: fresh }), true); }
  };
  const anew = () => { if (id || body.dataset.live === "inbox") say(t("Something may have changed since this page was made."), true); };
  const listen = () => {
    if (!body.dataset.changes || stream || document.hidden) return;
    // From where this page is: it may have been made, or have been out of sight, for long.
    stream = new EventSource(body.dataset.changes + "?after=" + encodeURIComponent(place));
    stream.addEventListener("change", heard);
    stream.addEventListener("resync", anew);
    stream.addEventListener("ready", (e) => {
      place = e.lastEventId || place;
      pause = 5000;
      if (line && line.firstElementChild.textContent === deaf) line.hidden = true;
    });
    stream.addEventListener("error", (e) => {
      if (e.target !== stream || stream.readyState !== EventSource.CLOSED) return; // the browser comes back by itself
      stream = null;
      if (line && line.hidden) say(deaf);
      setTimeout(listen, pause);
      pause = Math.min(2 * pause, 300000);
    });
  };
  document.addEventListener("visibilitychange", () => {
    if (document.hidden && stream) { stream.close(); stream = null; } else listen();
  });
  listen();

  // One click sends a form once.
  document.addEventListener("submit", (e) => {
    const form = e.target;
    if (form.method !== "post") return;
    if (form.dataset.sent) { e.preventDefault(); return; }
    form.dataset.sent = "yes";
  });
  addEventListener("pageshow", () => { for (const f of document.forms) delete f.dataset.sent; });

  // In a list, j and k go from row to row, and Enter opens, as with every link. Elsewhere a letter does nothing, since
  // whoever speaks to their computer may not mean it as a key; and no key decides anything.
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input, textarea, select, [contenteditable]") || !e.target.closest(".rows")) return;
    if (e.key !== "j" && e.key !== "k") return;
    const rows = [...document.querySelectorAll(".rows .what")];
    if (!rows.length) return;
    const at = rows.indexOf(document.activeElement);
    rows[Math.min(rows.length - 1, Math.max(0, at + (e.key === "j" ? 1 : -1)))].focus();
  });
})();
