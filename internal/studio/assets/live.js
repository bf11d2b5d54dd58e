// Figures that change: the page is fetched again, and what is marked data-live, and
// every figure of the picture, takes the place of what it was. At most one page a second is fetched.
(function () {
  "use strict";
  var pawl = window.pawl, last = 0, waiting = 0, busy = false;
  function update() {
    waiting = 0;
    if (busy || document.hidden) { return; }
    busy = true;
    last = Date.now();
    var address = location.href;
    fetch(address, { cache: "no-store", headers: { "Accept": "text/html" } }).then(function (answer) {
      return answer.ok ? answer.text() : "";
    }).then(function (text) {
      if (text && address === location.href) { take(new DOMParser().parseFromString(text, "text/html")); }
    }).catch(function () { /* the frame says that the studio is away */ }).then(function () { busy = false; });
  }
  // take exchanges what differs, and leaves alone what the reader is in.
  function take(page) {
    Array.prototype.slice.call(document.querySelectorAll("[data-live][id], .pawl-figure[id]")).forEach(function (at) {
      var now = page.getElementById(at.id);
      if (!now || now.innerHTML === at.innerHTML) { return; }
      var open = Array.prototype.slice.call(at.querySelectorAll("details[open][id]")).map(function (d) { return d.id; });
      var active = at.contains(document.activeElement) && document.activeElement !== at ? document.activeElement : null;
      var focus = active && active.getAttribute("href"), place = active && placeOf(active, at), tag = active && active.tagName;
      var slid = Array.prototype.slice.call(at.querySelectorAll(".table")).map(function (t) { return t.scrollLeft; });
      at.innerHTML = now.innerHTML;
      open.forEach(function (id) { var d = document.getElementById(id); if (d) { d.open = true; } });
      Array.prototype.slice.call(at.querySelectorAll(".table")).forEach(function (t, i) { if (slid[i]) { t.scrollLeft = slid[i]; } });
      if (active && !focus) { // a frame that slides, or what opens one: it is where it was
        var same = place.reduce(function (in_, i) { return in_ && in_.children[i]; }, at);
        if (same && same.tagName === tag) { same.focus({ preventScroll: true }); }
      }
      if (focus) {
        var again = Array.prototype.slice.call(at.querySelectorAll("a[href]")).filter(function (a) { return a.getAttribute("href") === focus; })[0];
        if (again) { again.focus({ preventScroll: true }); }
      }
      var said = document.getElementById("live-said"), words = at.querySelector("[data-said]"); // once as it begins, not each figure
      if (said && words && said.textContent !== words.dataset.said) { said.textContent = words.dataset.said; }
      at.dispatchEvent(new CustomEvent("pawl-live", { bubbles: true }));
    });
  }
  // placeOf names an element by the places of those around it.
  function placeOf(at, root) {
    var steps = [];
    for (; at !== root; at = at.parentElement) { steps.unshift(Array.prototype.indexOf.call(at.parentElement.children, at)); }
    return steps;
  }
  pawl.on("live", function () {
    if (!waiting) { waiting = setTimeout(update, Math.max(50, last + 1000 - Date.now())); }
  });
})();
