/** Starts the page. */
import { App } from "./app";
import { Job, unpacked } from "./data";
import { callDevices } from "./dom";
import { deviceWord } from "./job";
import { hangTabs, reportTabs } from "./views";
import { diffTabs } from "./views/diff/summary";

/* Starts the page as soon as the tables are parsed. They come before the script in the document. */
async function start(tables: HTMLElement): Promise<void> {
  const job = new Job(new TextDecoder().decode(await unpacked(tables)));
  document.querySelector(".unopened")?.remove();
  callDevices(deviceWord(job));
  new App(job, { report: reportTabs, diff: diffTabs, hang: hangTabs }[job.kind]).start();
}

const tables = document.getElementById("tables");
if (tables)
  start(tables).catch((error: Error) => {
    const said = document.querySelector(".unopened");
    if (said) said.textContent = `This report cannot be opened: ${error.message}.`;
  });
