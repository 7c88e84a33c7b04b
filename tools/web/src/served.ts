/** Asks who serves the page for what it does not hold. */
import type { Job } from "./data";

/** Whether the page came from `tmerge serve`, and not from a file. */
export function isServed(job: Job): boolean {
  return job.facts.served !== undefined;
}

/** What the server answers; an error is a sentence without its end. */
export async function ask(path: string, query: Readonly<Record<string, string | number>>, signal?: AbortSignal): Promise<Uint8Array> {
  const parts = Object.entries(query).map(([key, value]) => `${key}=${value}`);
  const answer = await fetch(`${path}?${parts.join("&")}`, {
    ...(signal && { signal }),
    cache: "no-store",
    referrerPolicy: "no-referrer",
  }).catch((error: Error) => {
    throw error.name === "AbortError" ? error : new Error("tmerge serve does not answer; it may have been ended");
  });
  const bytes = new Uint8Array(await answer.arrayBuffer());
  if (!answer.ok) throw new Error(`tmerge serve says: ${new TextDecoder().decode(bytes).trim()}`);
  return bytes;
}
