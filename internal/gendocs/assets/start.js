// Open the language that was read last, or else the browser's.
(function () {
  "use strict";
  var lang = null;
  try { lang = localStorage.getItem("pawl-lang"); } catch (e) { /* a browser may keep nothing */ }
  if (lang !== "en" && lang !== "zh") { lang = /^zh\b/i.test(navigator.language) ? "zh" : "en"; }
  location.replace(lang + "/index.html");
})();
