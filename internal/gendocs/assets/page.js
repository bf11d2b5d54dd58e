// What a page does beyond being read. Without a script everything is there too.
(function () {
  "use strict";
  var root = document.documentElement;
  var all = function (selector, within) { return Array.prototype.slice.call((within || document).querySelectorAll(selector)); };
  var keep = function (key, value) { try { localStorage.setItem(key, value); } catch (e) { /* a browser may keep nothing */ } };
  var fold = function (text) { return text.toLowerCase().normalize("NFKC"); };

  theme();
  language();
  sections();
  picture();
  matrix();
  cases();

  // The theme's button, and the system's choice as long as nobody has chosen.
  function theme() {
    var button = document.getElementById("theme");
    if (!button) { return; }
    var show = function () { button.setAttribute("aria-pressed", String(root.dataset.theme === "dark")); };
    button.addEventListener("click", function () {
      root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
      keep("pawl-theme", root.dataset.theme);
      show();
    });
    show();
  }

  // The language that is read is the one that the folder opens with; changing
  // it stays at the same place of the page.
  function language() {
    keep("pawl-lang", root.lang);
    all("a[data-lang]").forEach(function (a) {
      a.addEventListener("click", function () {
        keep("pawl-lang", a.dataset.lang);
        a.hash = location.hash;
      });
    });
  }

  // The list of sections marks the one that is being read.
  function sections() {
    var links = all(".side a[href^='#']");
    var heads = links.map(function (a) { return document.getElementById(a.hash.slice(1)); });
    if (!links.length || !window.IntersectionObserver) { return; }
    var mark = function () {
      var now = 0;
      heads.forEach(function (h, i) { if (h && h.getBoundingClientRect().top < 160) { now = i; } });
      if (window.innerHeight + window.scrollY >= document.body.scrollHeight - 2 && window.scrollY > 0) { now = links.length - 1; }
      links.forEach(function (a, i) {
        if (i === now) { a.setAttribute("aria-current", "true"); } else { a.removeAttribute("aria-current"); }
      });
    };
    var waiting = false;
    window.addEventListener("scroll", function () {
      if (waiting) { return; }
      waiting = true;
      requestAnimationFrame(function () { waiting = false; mark(); });
    }, { passive: true });
    mark();
  }

  // The picture shows a state or an event alone while it is pointed at or has
  // the focus, and for good when it is clicked.
  function picture() {
    var figure = document.getElementById("figure"), svg = figure && figure.querySelector("svg");
    if (!svg) { return; }
    var words = document.getElementById("picked");
    var states = all("[data-state]", svg), edges = all("[data-from]", svg), picks = all("[data-pick-event]");
    var pinned = null;

    // events of an edge: it may bear several, as a list.
    var eventsOf = function (edge) { try { return [].concat(JSON.parse(edge.dataset.events)); } catch (e) { return [edge.dataset.event]; } };
    var same = function (a, b) { return a && b && a.kind === b.kind && a.name === b.name; };
    var find = function (node) {
      var at = node.closest && node.closest("[data-state], [data-from]");
      if (!at || !svg.contains(at)) { return null; }
      if (at.dataset.state !== undefined) { return { kind: "state", name: at.dataset.state }; }
      return { kind: "event", name: eventsOf(at)[0] };
    };

    function show(what) {
      what = what || pinned;
      svg.classList.toggle("picked", !!what);
      var near = {}, count = 0;
      edges.forEach(function (edge) {
        var from = edge.dataset.from, to = edge.dataset.to;
        var on = !!what && (what.kind === "state" ? from === what.name || to === what.name : eventsOf(edge).indexOf(what.name) >= 0);
        edge.classList.toggle("on", on);
        if (on) { near["s" + from] = near["s" + to] = true; count++; }
      });
      states.forEach(function (s) {
        s.classList.toggle("on", !!what && (near["s" + s.dataset.state] || what.kind === "state" && s.dataset.state === what.name));
        s.setAttribute("aria-pressed", String(same(pinned, { kind: "state", name: s.dataset.state })));
      });
      picks.forEach(function (b) { b.setAttribute("aria-pressed", String(same(pinned, { kind: "event", name: b.dataset.pickEvent }))); });
      words.textContent = !what ? words.dataset.idle :
        words.dataset[what.kind] + " " + what.name + " · " + count + " " + words.dataset.count + (same(what, pinned) ? " · " + words.dataset.pinned : "");
    }
    function pin(what) {
      pinned = same(pinned, what) ? null : what;
      show(null);
    }

    svg.setAttribute("role", "group");
    if (!svg.hasAttribute("aria-label") && !svg.hasAttribute("aria-labelledby")) { svg.setAttribute("aria-label", document.title); }
    states.forEach(function (s, i) {
      s.setAttribute("role", "button");
      s.setAttribute("aria-label", s.dataset.state);
      s.setAttribute("tabindex", i === 0 ? "0" : "-1"); // one stop; arrows go on from it
    });
    svg.addEventListener("pointerover", function (e) { show(find(e.target)); });
    svg.addEventListener("pointerleave", function () { show(null); });
    svg.addEventListener("focusin", function (e) { show(find(e.target)); });
    svg.addEventListener("focusout", function () { show(null); });
    svg.addEventListener("click", function (e) { var what = find(e.target); if (what) { pin(what); } });
    svg.addEventListener("keydown", function (e) {
      var at = states.indexOf(e.target.closest("[data-state]"));
      if (at < 0) { return; }
      var step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
      if (step) {
        var next = states[(at + step + states.length) % states.length];
        states.forEach(function (s) { s.setAttribute("tabindex", s === next ? "0" : "-1"); });
        next.focus();
        e.preventDefault();
      } else if (e.key === "Enter" || e.key === " ") {
        pin(find(e.target));
        e.preventDefault();
      }
    });
    picks.forEach(function (b) {
      var what = { kind: "event", name: b.dataset.pickEvent };
      b.addEventListener("pointerenter", function () { show(what); });
      b.addEventListener("pointerleave", function () { show(null); });
      b.addEventListener("focus", function () { show(what); });
      b.addEventListener("blur", function () { show(null); });
      b.addEventListener("click", function () { pin(what); });
    });
    document.addEventListener("keydown", function (e) { if (e.key === "Escape") { pinned = null; show(null); } });
    all("[data-pin-state], [data-pin-event]").forEach(function (a) {
      a.addEventListener("click", function () {
        pinned = a.dataset.pinState !== undefined ? { kind: "state", name: a.dataset.pinState } : { kind: "event", name: a.dataset.pinEvent };
        show(null);
      });
    });
    show(null);
  }

  // The matrix shows the rows and columns that were chosen, and dims the cells
  // that do not fit.
  function matrix() {
    var form = document.getElementById("matrix-filter"), table = document.querySelector(".matrix table");
    if (!form || !table) { return; }
    var cells = all("td[data-state]", table).map(function (td) { return { td: td, text: fold(td.textContent + " " + td.dataset.state + " " + td.dataset.event) }; });
    var count = document.getElementById("matrix-count");
    function filter() {
      var text = fold(form.elements.text.value.trim()), state = form.elements.state.value, event = form.elements.event.value;
      var kinds = all("[name=kind]:checked", form).map(function (box) { return box.value; });
      var rows = {}, columns = {}, shown = 0, narrowed = !!(text || kinds.length);
      cells.forEach(function (c) {
        var d = c.td.dataset;
        var fits = (!text || c.text.indexOf(text) >= 0) && (!kinds.length || d.kind.split(" ").some(function (k) { return kinds.indexOf(k) >= 0; }));
        var chosen = (!state || d.state === state) && (!event || d.event === event);
        c.td.classList.toggle("off", !fits);
        if (fits && chosen) { rows["s" + d.state] = columns["e" + d.event] = true; shown++; }
      });
      all("[data-state]", table).forEach(function (at) {
        var d = at.dataset;
        if (d.event === undefined) { at.hidden = state ? d.state !== state : narrowed && !rows["s" + d.state]; }
      });
      all("[data-event]", table).forEach(function (at) {
        var d = at.dataset;
        at.hidden = event ? d.event !== event : narrowed && !columns["e" + d.event];
      });
      count.textContent = shown + " " + count.dataset.of + " " + cells.length + " " + count.dataset.cells;
    }
    form.addEventListener("input", filter);
    form.addEventListener("submit", function (e) { e.preventDefault(); });
    filter();
  }

  // The list of cases shows those that hold every word of the search.
  function cases() {
    var form = document.getElementById("case-filter");
    if (!form) { return; }
    var list = all("#case-list > .case").map(function (c) { return { at: c, text: fold(c.textContent) }; });
    var count = document.getElementById("case-count");
    function filter() {
      var words = fold(form.elements.text.value).split(/\s+/).filter(Boolean), shown = 0;
      list.forEach(function (c) {
        var fits = words.every(function (w) { return c.text.indexOf(w) >= 0; });
        c.at.hidden = !fits;
        if (fits) { shown++; }
      });
      count.textContent = shown + " " + count.dataset.of + " " + list.length + " " + count.dataset.cases;
    }
    form.addEventListener("input", filter);
    form.addEventListener("submit", function (e) { e.preventDefault(); });
    filter();
  }
})();
