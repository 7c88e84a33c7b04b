/** Passes a window to Perfetto, by Perfetto's documented interface ("deep linking", postMessage). */
import { ask } from "../served";
import type { Span } from "./model";

const PERFETTO = "https://ui.perfetto.dev";
/** PING: time between two messages to Perfetto [ms]. PATIENCE: time after which the page gives up [ms]. */
const PING = 50,
  PATIENCE = 60_000;

/* Resolves when Perfetto answers. Its page is then loaded. */
const answered = (tab: Window): Promise<void> =>
  new Promise((done, fail) => {
    const listen = (event: MessageEvent): void => {
      if (event.source !== tab || event.origin !== PERFETTO || event.data !== "PONG") return;
      stop();
      done();
    };
    const ping = setInterval(() => tab.postMessage("PING", PERFETTO), PING),
      late = setTimeout(() => {
        stop();
        fail(new Error("ui.perfetto.dev does not respond"));
      }, PATIENCE);
    const stop = (): void => {
      clearInterval(ping);
      clearTimeout(late);
      removeEventListener("message", listen);
    };
    addEventListener("message", listen);
  });

/** Opens Perfetto with events. They stay in this browser. Call this in a click handler, because otherwise browsers block the new tab. */
export async function openInPerfetto(ranks: readonly number[], span: Span, title: string): Promise<void> {
  const tab = window.open(PERFETTO);
  if (!tab) throw new Error("the browser blocked the new tab; allow pop-ups for this page, and try again");
  try {
    const query = { from: Math.max(0, Math.floor(span.begin)), to: Math.ceil(span.end), ranks: [...ranks].sort((a, b) => a - b).join() };
    const [bytes] = await Promise.all([ask("trace", query), answered(tab)]);
    const buffer = bytes.buffer as ArrayBuffer;
    tab.postMessage({ perfetto: { buffer, title, fileName: "tmerge.perfetto-trace" } }, PERFETTO, [buffer]);
  } catch (error) {
    tab.close();
    throw error;
  }
}
