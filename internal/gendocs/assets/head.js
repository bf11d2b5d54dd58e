// Before anything is drawn: that there is a script, and the theme that was chosen.
(function () {
  "use strict";
  var root = document.documentElement, theme = null;
  root.classList.add("scripted");
  try { theme = localStorage.getItem("pawl-theme"); } catch (e) { /* a browser may keep nothing */ }
  if (theme !== "light" && theme !== "dark") {
    theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  }
  root.dataset.theme = theme;
})();
