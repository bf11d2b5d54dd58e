// What a page does beyond being read. Without a script everything is there too.
(function () {
  "use strict";
  var root = document.documentElement;
  var all = function (selector, within) { return Array.prototype.slice.call((within || document).querySelectorAll(selector)); };
  var keep = function (key, value) { try { localStorage.setItem(key, value); } catch (e) { /* a browser may keep nothing */ } };
  var fold = function (text) { return text.toLowerCase().normalize("NFKC"); };

  // What lives as long as the content of the page does.
  var life = null;
  var listen = function (at, what, act, options) { at.addEventListener(what, act, Object.assign({ signal: life.signal }, options)); };
  // start does what the content of a page needs, for the first time or since the
  // content was exchanged.
  function start() {
    if (life) { life.abort(); }
    life = new AbortController();
    sections();
    picture();
    matrix();
    cases();
  }
  window.pawl = { start: start };
  theme();
  language();
  start();

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
    listen(window, "scroll", function () {
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
    var pinned = figure.dataset.kept ? { kind: figure.dataset.kept, name: figure.dataset.keptName } : null; // the page may say so itself
    if (!svg.querySelector("[data-event]")) { all(".picks, [data-pin-event]").forEach(function (at) { at.hidden = true; }); }

    // An arrow bears one transition or more, each with its event.
    var arcsOf = function (edge) { return all("[data-event]", edge); };
    var same = function (a, b) { return !!a && !!b && a.kind === b.kind && a.name === b.name; };
    var find = function (node) {
      var at = node.closest && node.closest("[data-state], [data-event], [data-from]");
      if (!at || !svg.contains(at)) { return null; }
      if (at.dataset.state !== undefined) { return { kind: "state", name: at.dataset.state }; }
      var arc = at.dataset.event !== undefined ? at : arcsOf(at)[0];
      return arc ? { kind: "event", name: arc.dataset.event } : null;
    };

    function show(what) {
      what = what || pinned;
      svg.classList.toggle("picked", !!what);
      var near = {}, count = 0;
      edges.forEach(function (edge) {
        var from = edge.dataset.from, to = edge.dataset.to, on = false;
        var arcs = arcsOf(edge);
        if (!arcs.length && what && what.kind === "state" && (from === what.name || to === what.name)) { on = true; count++; } // in an overview
        arcs.forEach(function (arc) {
          var fits = !!what && (what.kind === "state" ? from === what.name || to === what.name : arc.dataset.event === what.name);
          arc.classList.toggle("on", fits);
          if (fits) { on = true; count++; }
        });
        edge.classList.toggle("on", on);
        if (on) { near["s" + from] = near["s" + to] = true; }
      });
      states.forEach(function (s) {
        s.classList.toggle("on", !!what && (near["s" + s.dataset.state] || what.kind === "state" && s.dataset.state === what.name));
        s.setAttribute("aria-pressed", String(same(pinned, { kind: "state", name: s.dataset.state })));
      });
      picks.forEach(function (b) { b.setAttribute("aria-pressed", String(same(pinned, { kind: "event", name: b.dataset.pickEvent }))); });
      words.textContent = !what ? words.dataset.idle :
        words.dataset[what.kind] + " " + what.name + " · " + count + " " + words.dataset.count + (same(what, pinned) ? " · " + words.dataset.pinned : "");
    }
    function pin(what) { keepOnly(same(pinned, what) ? null : what); }
    // keepOnly says on the figure what is kept, too, for whoever listens there.
    function keepOnly(what) {
      pinned = what;
      delete figure.dataset.kept;
      if (what) { figure.dataset.kept = what.kind; figure.dataset.keptName = what.name; }
      show(null);
      figure.dispatchEvent(new CustomEvent("pawl-kept", { bubbles: true, detail: what }));
    }

    svg.setAttribute("role", "group");
    if (!svg.hasAttribute("aria-label") && !svg.hasAttribute("aria-labelledby")) { svg.setAttribute("aria-label", document.title); }
    states.forEach(function (s, i) {
      s.setAttribute("role", "button");
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
    listen(document, "keydown", function (e) { if (e.key === "Escape" && pinned) { keepOnly(null); } });
    all("[data-pin-state], [data-pin-event]").forEach(function (a) {
      a.addEventListener("click", function () {
        keepOnly(a.dataset.pinState !== undefined ? { kind: "state", name: a.dataset.pinState } : { kind: "event", name: a.dataset.pinEvent });
      });
    });
    show(null);
  }

  // The matrix shows the state and the event that were chosen, beside what its
  // own search does.
  function matrix() {
    var form = document.getElementById("matrix-filter"), table = document.querySelector(".matrix table");
    if (!form || !table) { return; }
    function filter() {
      var state = form.elements.state.value, event = form.elements.event.value;
      all("[data-state], [data-event]", table).forEach(function (at) {
        var d = at.dataset;
        at.classList.toggle("out", !!(state && d.state !== undefined && d.state !== state || event && d.event !== undefined && d.event !== event));
      });
      all("tbody tr", table).forEach(function (row) { row.classList.toggle("out", !row.querySelector("td:not(.out)")); });
    }
    document.querySelector(".matrix .pawl-tools").prepend(form); // in one line with the search
    form.addEventListener("change", filter);
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
