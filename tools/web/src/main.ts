/** Starts the page. */
import { App } from "./app";
import { Job } from "./data";
import { reportViews } from "./views";

const tables = document.getElementById("tables");
if (tables) {
  const job = new Job(tables.textContent ?? "{}");
  new App(job, reportViews).start();
}
