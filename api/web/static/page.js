"use strict";
// Comfort only: everything works without this file.

const progress = document.getElementById("progress");
const paste = document.getElementById("paste");

if (paste) {
  const text = document.getElementById("text");
  const files = document.getElementById("files");
  paste.addEventListener("submit", () => { progress.textContent = progress.dataset.working; });
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); paste.requestSubmit(); }
  });
  for (const name of ["dragenter", "dragover"]) {
    document.addEventListener(name, (event) => { event.preventDefault(); paste.classList.add("dropping"); });
  }
  for (const name of ["dragleave", "drop"]) {
    document.addEventListener(name, () => paste.classList.remove("dropping"));
  }
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer && event.dataTransfer.files.length) { files.files = event.dataTransfer.files; }
  });
  window.addEventListener("pageshow", () => { progress.textContent = ""; });
}

// A permalink or a key may lead to a line that is folded away.
const unfold = (element) => { for (let fold = element && element.closest("details"); fold; fold = fold.parentElement.closest("details")) { fold.open = true; } };
const aimed = location.hash.length > 1 ? document.getElementById(location.hash.slice(1)) : null;
if (aimed && aimed.closest("details")) { unfold(aimed); aimed.scrollIntoView(); }

const copy = document.getElementById("copy");
if (copy) {
  copy.hidden = false;
  copy.addEventListener("click", async () => {
    try {
      const answer = await fetch(copy.dataset.from);
      if (!answer.ok) { throw new Error(String(answer.status)); }
      await navigator.clipboard.writeText(await answer.text());
      progress.textContent = copy.dataset.done;
    } catch {
      progress.textContent = copy.dataset.failed;
    }
  });
  const lines = Array.from(document.querySelectorAll(".cause .lines > li"));
  document.getElementById("keys").hidden = lines.length === 0;
  let place = -1;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !["n", "p"].includes(event.key) || lines.length === 0) { return; }
    place = (place + (event.key === "n" ? 1 : lines.length - 1) + (place < 0 && event.key === "p" ? 1 : 0)) % lines.length;
    unfold(lines[place]);
    lines[place].focus();
  });
}
