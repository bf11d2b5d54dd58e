// Simulate: a step is fetched and put in the place of the page, so that the place
// and what is open stay; without this script a step is a link like any other.
(function () {
  "use strict";
  var pawl = window.pawl;
  function go(to, push) {
    if (push) { history.pushState(null, "", to); }
    return pawl.refresh().then(function () {
      var now = document.getElementById("now");
      if (now) { now.focus({ preventScroll: true }); now.scrollIntoView({ block: "nearest" }); }
    });
  }
  document.addEventListener("click", function (e) {
    var link = e.target.closest && e.target.closest("a[data-life]");
    if (!link || e.defaultPrevented || e.button || e.ctrlKey || e.metaKey || e.shiftKey || e.altKey) { return; }
    e.preventDefault();
    go(link.href, true);
  });
  document.addEventListener("submit", function (e) {
    if (!e.target.matches("form[data-life]")) { return; }
    e.preventDefault();
    var to = new URL(e.target.action);
    to.search = new URLSearchParams(new FormData(e.target)).toString();
    fetch(to, { cache: "no-store" }).then(function (answer) { go(answer.url, true); }, function () { location.href = to; });
  });
  window.addEventListener("popstate", function () { if (document.getElementById("now")) { go(location.href, false); } });
  // The state in which the row stands is in view.
  pawl.ready(function (main) {
    var here = main.querySelector("#now") && main.querySelector("#figure .here"), scroll = here && here.closest(".scroll");
    if (!scroll) { return; }
    var at = here.getBoundingClientRect(), frame = scroll.getBoundingClientRect();
    scroll.scrollTop += at.top + at.height / 2 - frame.top - frame.height / 2;
    scroll.scrollLeft += at.left + at.width / 2 - frame.left - frame.width / 2;
  });
  pawl.ready(function (main) {
    var copy = main.querySelector("#copy-link");
    if (!copy) { return; }
    copy.addEventListener("click", function () {
      var said = main.querySelector("#copied"), to = main.querySelector("#life-link").href;
      navigator.clipboard.writeText(to).then(function () { said.textContent = copy.dataset.done; }, function () { said.textContent = to; });
    });
  });
})();
