// Buttons of another program: its answer leaves the page where it is, so that the page
// says by itself that something was sent.
(function () {
  "use strict";
  var words = document.getElementById("link-state");
  document.querySelectorAll("form.action").forEach(function (form) {
    var shown = 0;
    form.addEventListener("submit", function () {
      clearTimeout(shown);
      form.classList.remove("sent");
      void form.offsetWidth; // it may be shown again at once
      form.classList.add("sent");
      words.classList.add("fine");
      words.textContent = form.dataset.sent;
      shown = setTimeout(function () {
        form.classList.remove("sent");
        if (words.textContent === form.dataset.sent) { words.textContent = ""; }
      }, 3000);
    });
  });
})();
