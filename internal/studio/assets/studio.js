// The frame: what keeps pages up to date, and the size and place of pictures.
// Parts use pawl.ready, pawl.on, pawl.signal and pawl.refresh (see doc.go).
(function () {
  "use strict";
  var pawl = window.pawl, ready = [], heard = {};
  var life = new AbortController();
  var all = function (selector, within) { return Array.prototype.slice.call((within || document).querySelectorAll(selector)); };
  var main = function () { return document.getElementById("main"); };

  pawl.signal = function () { return life.signal; };
  pawl.ready = function (act) { ready.push(act); act(main()); };
  pawl.on = function (event, act) { heard[event] = (heard[event] || []).concat(act); listen(event); };
  pawl.refresh = refresh;

  // refresh fetches the page again and exchanges what it shows. Of several that are
  // asked for while one runs, one more follows.
  var fetching = null, again = false;
  function refresh() {
    if (fetching) { again = true; return fetching; }
    fetching = fetch(location.href, { cache: "no-store", headers: { "Accept": "text/html" } }).then(function (answer) {
      return answer.text();
    }).then(function (text) {
      exchange(new DOMParser().parseFromString(text, "text/html"));
    }).catch(function () { /* the stream says that the studio is away */ }).then(function () {
      fetching = null;
      if (again) { again = false; return refresh(); }
    });
    return fetching;
  }

  // exchange puts the content of another page in the place of this one's, with
  // whatever the reader did to it.
  function exchange(page) {
    var from = document.getElementById("swap"), to = page.getElementById("swap");
    if (!to) { return; }
    var kept = keep(from);
    life.abort();
    life = new AbortController();
    document.title = page.title;
    document.body.dataset.heard = page.body.dataset.heard;
    document.body.dataset.topics = page.body.dataset.topics;
    from.replaceWith(document.adoptNode(to));
    restore(to, kept);
    pawl.start();
    pawlMatrix();
    restoreForms(to, kept);
    ready.forEach(function (act) { act(main()); });
    restoreScroll(to, kept);
    window.scrollTo(kept.x, kept.y);
    focusAgain(to, kept.focus);
    connect();
  }

  // pathOf names an element by the nearest id around it and the places below that.
  function pathOf(at, root) {
    var steps = [];
    for (; at && at !== root && !at.id; at = at.parentElement) {
      steps.unshift(Array.prototype.indexOf.call(at.parentElement.children, at));
    }
    return { id: at && at !== root ? at.id : "", steps: steps, tag: "" };
  }
  function find(path, root) {
    var at = path.id ? document.getElementById(path.id) : root;
    path.steps.forEach(function (i) { at = at && at.children[i]; });
    return at && at.tagName === path.tag ? at : null;
  }
  function keep(root) {
    var name = function (at) { var p = pathOf(at, root); p.tag = at.tagName; return p; };
    var active = root.contains(document.activeElement) ? document.activeElement : null;
    var path = active && name(active);
    if (path && active.dataset.state !== undefined) { path.state = active.dataset.state; }
    return {
      x: window.scrollX, y: window.scrollY, focus: path,
      open: all("details", root).map(function (at) { return { at: name(at), open: at.open }; }),
      scrolled: all(".scroll, .table, .pawl-scroll, .menu, .side", root).filter(function (at) { return at.scrollLeft || at.scrollTop; })
        .map(function (at) { return { at: name(at), x: at.scrollLeft, y: at.scrollTop }; }),
      inputs: all("input, select, textarea", root).map(function (at) {
        return { at: name(at), value: at.type === "checkbox" || at.type === "radio" ? at.checked : at.value, was: at.type === "checkbox" || at.type === "radio" ? at.defaultChecked : at.defaultValue };
      }).filter(function (i) { return i.value !== i.was; }),
      pressed: all(".pawl-key[aria-pressed='true']", root).map(function (at) { return at.dataset.kind; })
    };
  }
  function restore(root, kept) {
    kept.open.forEach(function (d) { var at = find(d.at, root); if (at) { at.open = d.open; } });
  }
  function restoreForms(root, kept) {
    kept.inputs.forEach(function (i) {
      var at = find(i.at, root);
      if (!at) { return; }
      if (typeof i.value === "boolean") { at.checked = i.value; } else { at.value = i.value; }
      at.dispatchEvent(new Event("input", { bubbles: true }));
      at.dispatchEvent(new Event("change", { bubbles: true }));
    });
    kept.pressed.forEach(function (kind) { all(".pawl-key", root).forEach(function (b) { if (b.dataset.kind === kind) { b.click(); } }); });
  }
  function restoreScroll(root, kept) {
    kept.scrolled.forEach(function (s) { var at = find(s.at, root); if (at) { at.scrollTo(s.x, s.y); } });
  }
  function focusAgain(root, path) {
    if (!path) { return; }
    var at = path.state !== undefined ? all("[data-state][tabindex]", root).filter(function (s) { return s.dataset.state === path.state; })[0] : find(path, root);
    if (at) { at.focus({ preventScroll: true }); }
  }

  // The stream: open while the page is seen.
  var stream = null, streamed = "", words = document.getElementById("link-state"), away = 0;
  function connect() {
    var topics = document.body.dataset.topics || "";
    if (document.hidden || document.body.dataset.heard === undefined) { return; }
    if (stream && streamed === topics && stream.readyState !== EventSource.CLOSED) { return; }
    disconnect();
    streamed = topics;
    stream = new EventSource("/events" + (topics ? "?" + topics : ""));
    stream.addEventListener("open", function () { clearTimeout(away); say("", true); });
    stream.addEventListener("error", function () {
      clearTimeout(away);
      away = setTimeout(function () { say(words.dataset.away, false); connect(); }, 2000);
    });
    stream.addEventListener("changed", function (e) {
      if (e.data === document.body.dataset.heard) { return; }
      refresh().then(function () { say(words.dataset.new, true); });
    });
    Object.keys(heard).forEach(listen);
  }
  function disconnect() {
    clearTimeout(away);
    if (stream) { stream.close(); }
    stream = null;
  }
  function listen(event) {
    if (!stream || (stream.bound = stream.bound || {})[event]) { return; }
    stream.bound[event] = true;
    stream.addEventListener(event, function (e) { (heard[event] || []).forEach(function (act) { act(e.data); }); });
  }
  function say(text, fine) {
    words.classList.toggle("fine", fine);
    if (words.textContent !== text) { words.textContent = text; }
  }
  document.addEventListener("visibilitychange", function () { if (document.hidden) { disconnect(); } else { connect(); } });
  window.addEventListener("pagehide", disconnect);
  window.addEventListener("pageshow", connect);

  // What is kept in the picture is in the address, so that it can be shared.
  document.addEventListener("pawl-kept", function (e) {
    var to = asked(location.search, ["state", "event"], e.detail && e.detail.kind, e.detail && e.detail.name);
    history.replaceState(history.state, "", location.pathname + to + location.hash);
    all(".switch a[href]").forEach(function (a) { a.href = location.pathname + asked(to, ["lang"], "lang", a.dataset.lang); });
  });
  // asked is a query with a value in the place of others. What else it has stays as it
  // is written: a simulated life can be read in it.
  function asked(query, without, name, value) {
    var parts = query.replace(/^\?/, "").split("&").filter(function (part) { return part && without.indexOf(part.split("=")[0]) < 0; });
    if (name) { parts.push(name + "=" + new URLSearchParams([["", value]]).toString().slice(1)); }
    return parts.length ? "?" + parts.join("&") : "";
  }

  // Size and place of a picture: 1 is as wide as there is room for.
  var sizes = {};
  pawl.zoomable = zoomable;
  function zoomable(figure) {
    var scroll = figure.querySelector(".scroll"), svg = scroll && scroll.querySelector("svg");
    if (!svg) { return; }
    var now = figure.querySelector("[data-zoom-now]");
    var box = svg.viewBox.baseVal, least = 1, most = 6, size = 1, fit = 0;
    var room = function () { return scroll.clientWidth - 32; };
    // measure finds the sizes there are: down to where the whole is seen at once.
    function measure() {
      fit = Math.min(Math.max(room(), 576), box.width); // on a phone wider than it, so that it can be read
      most = Math.max(2, 3 * box.width / fit);
      least = Math.min(1, Math.max(0.1, Math.min(room() / fit, 0.8 * window.innerHeight / (box.height * fit / box.width))));
    }
    // set gives a size, and keeps a point of the picture where it is on the screen.
    function set(to, x, y) {
      to = Math.min(most, Math.max(least, to));
      var frame = scroll.getBoundingClientRect(), was = svg.getBoundingClientRect();
      x = x === undefined ? frame.left + scroll.clientWidth / 2 : x;
      y = y === undefined ? frame.top + scroll.clientHeight / 2 : y;
      var px = (x - was.left) / was.width, py = (y - was.top) / was.height;
      if (to > 1 && !figure.classList.contains("zoomed")) { scroll.style.height = scroll.offsetHeight + "px"; }
      size = to;
      figure.classList.toggle("zoomed", size > 1);
      svg.style.width = fit * size + "px";
      svg.style.maxWidth = "none";
      if (size > 1) {
        var is = svg.getBoundingClientRect();
        scroll.scrollLeft += is.left + px * is.width - x;
        scroll.scrollTop += is.top + py * is.height - y;
      } else {
        scroll.style.height = "";
      }
      if (now) { now.textContent = Math.round(fit * size / box.width * 100) + " %"; }
      sizes[figure.id] = size;
    }
    var by = function (step, x, y) { set(step === 0 ? 1 : size * Math.pow(1.35, step), x, y); };
    all("[data-zoom-by]", figure).forEach(function (b) { b.addEventListener("click", function () { by(Number(b.dataset.zoomBy)); }); });
    figure.addEventListener("keydown", function (e) {
      var step = { "+": 1, "=": 1, "-": -1, "_": -1, "0": 0 }[e.key];
      if (step === undefined || e.ctrlKey || e.metaKey || e.altKey) { return; }
      by(step);
      e.preventDefault();
    });
    scroll.addEventListener("wheel", function (e) {
      if (!e.ctrlKey && !e.metaKey) { return; } // the wheel alone scrolls, as everywhere
      set(size * Math.exp(-e.deltaY * (e.deltaMode ? 0.05 : 0.004)), e.clientX, e.clientY);
      e.preventDefault();
    }, { passive: false });
    drag(figure, scroll);
    pinch(scroll, function () { return size; }, set);
    window.addEventListener("resize", function () { measure(); set(size); }, { signal: life.signal });
    measure();
    set(sizes[figure.id] || 1);
    begin(scroll, svg);
  }

  // begin shows of a picture that is larger than its frame what is kept in it, or
  // where it starts.
  function begin(scroll, svg) {
    var first = svg.querySelector(".pawl-state.on") || svg.querySelector(".start");
    if (!first) { return; }
    var frame = scroll.getBoundingClientRect(), at = first.getBoundingClientRect();
    scroll.scrollLeft += (at.left + at.right) / 2 - (frame.left + frame.right) / 2;
    if (scroll.scrollHeight > scroll.clientHeight) { scroll.scrollTop += at.top - frame.top - 40; }
  }

  // drag moves a picture that is larger than its frame with the mouse.
  function drag(figure, scroll) {
    var from = null, moved = false;
    scroll.addEventListener("pointerdown", function (e) {
      if (e.pointerType !== "mouse" || e.button !== 0 || !figure.classList.contains("zoomed") && scroll.scrollWidth <= scroll.clientWidth) { return; }
      from = { x: e.clientX + scroll.scrollLeft, y: e.clientY + scroll.scrollTop, sx: e.clientX, sy: e.clientY };
      moved = false;
    });
    window.addEventListener("pointermove", function (e) {
      if (!from) { return; }
      if (!moved && Math.abs(e.clientX - from.sx) + Math.abs(e.clientY - from.sy) < 5) { return; }
      moved = true;
      figure.classList.add("dragged");
      scroll.scrollTo(from.x - e.clientX, from.y - e.clientY);
    }, { signal: life.signal });
    window.addEventListener("pointerup", function () { from = null; figure.classList.remove("dragged"); }, { signal: life.signal });
    // What was dragged is not clicked.
    scroll.addEventListener("click", function (e) { if (moved) { e.stopPropagation(); e.preventDefault(); moved = false; } }, true);
  }

  // pinch gives a picture the size that two fingers ask for.
  function pinch(scroll, size, set) {
    var start = null;
    var span = function (e) { return Math.hypot(e.touches[0].clientX - e.touches[1].clientX, e.touches[0].clientY - e.touches[1].clientY); };
    scroll.addEventListener("touchstart", function (e) {
      start = e.touches.length === 2 ? { span: span(e), size: size() } : null;
    }, { passive: true });
    scroll.addEventListener("touchmove", function (e) {
      if (!start || e.touches.length !== 2) { return; }
      set(start.size * span(e) / start.span, (e.touches[0].clientX + e.touches[1].clientX) / 2, (e.touches[0].clientY + e.touches[1].clientY) / 2);
      e.preventDefault();
    }, { passive: false });
    scroll.addEventListener("touchend", function () { start = null; });
  }

  // Where the pages of a machine are more than fit, the one that is open is in view.
  all(".menu [aria-current]").forEach(function (at) {
    var menu = at.closest(".menu"), room = menu.getBoundingClientRect(), is = at.getBoundingClientRect();
    menu.scrollLeft += Math.max(0, is.right - room.right + 8);
  });
  pawlMatrix();
  pawl.ready(function (at) { all("figure[data-zoom]", at).forEach(zoomable); });
  connect();
})();
