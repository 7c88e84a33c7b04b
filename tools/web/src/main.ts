/** Starts the page. */
import { App } from "./app";
import { Job } from "./data";
import { reportViews } from "./views";
import { diffViews } from "./views/diff";

const tables = document.getElementById("tables");
document.querySelector(".unopened")?.remove();
if (tables) {
  const job = new Job(tables.textContent ?? "{}");
  new App(job, job.kind === "diff" ? diffViews : reportViews).start();
}
