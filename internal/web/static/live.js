// <live-region src>: keeps the page up to date. The server sends elements with
// an ID; each takes the place of the one that has this ID, or is new in the list
// that its data-into names. While the tab is hidden nothing is connected: a
// browser opens only a few connections to one server.
import { morph } from "./morph.js";
import { refreshTimes } from "./times.js";

const PATIENCE = 4_000; // milliseconds without a connection before the page says so
const FIRST_RETRY = 1_000;
const LAST_RETRY = 30_000;
const NEAR_END = 64; // pixels

// What is said of a stream that is refused, with where to go, by the status.
const REFUSALS = {
  401: ["You are signed out.", "Sign in", "/signin"],
  404: ["You can no longer see this.", "Go to Tasks", "/tasks"],
};

// Everything but what runs: the server has escaped all text, this is a second wall.
const canSwap = "setHTML" in Element.prototype && "Sanitizer" in globalThis;
const sanitizer = canSwap && new Sanitizer({ removeElements: [] });

class LiveRegion extends HTMLElement {
  #source;
  #seen;
  #queue = [];
  #frame;
  #retry = FIRST_RETRY;
  #retryTimer;
  #patienceTimer;

  /** Whether changes reach the page by themselves. */
  get isLive() {
    return canSwap && this.#source?.readyState === EventSource.OPEN;
  }

  connectedCallback() {
    document.addEventListener("visibilitychange", this.#follow);
    window.addEventListener("pagehide", this.#close);
    window.addEventListener("pageshow", this.#follow);
    this.#follow();
  }

  disconnectedCallback() {
    document.removeEventListener("visibilitychange", this.#follow);
    window.removeEventListener("pagehide", this.#close);
    window.removeEventListener("pageshow", this.#follow);
    this.#close();
  }

  #follow = () => {
    if (document.visibilityState === "hidden") this.#close();
    else if (!this.#source) this.#open();
  };

  #open() {
    const address = new URL(this.getAttribute("src"), document.baseURI);
    if (this.#seen) address.searchParams.set("seen", this.#seen);
    this.#source = new EventSource(address);
    this.#source.addEventListener("open", this.#opened);
    this.#source.addEventListener("error", this.#failed);
    this.#source.addEventListener("message", this.#received);
    this.#source.addEventListener("moved", this.#moved);
  }

  #close = () => {
    this.#source?.close();
    this.#source = undefined;
    clearTimeout(this.#retryTimer);
    clearTimeout(this.#patienceTimer);
    this.#patienceTimer = undefined;
  };

  #opened = () => {
    this.#retry = FIRST_RETRY;
    clearTimeout(this.#patienceTimer);
    this.#patienceTimer = undefined;
    if (canSwap) this.#say("");
  };

  // The browser tries again by itself after a broken connection, but not after an
  // answer that is no stream.
  #failed = () => {
    this.#patienceTimer ??= setTimeout(() => this.#say("Not connected. Trying again…"), PATIENCE);
    if (this.#source?.readyState !== EventSource.CLOSED) return;
    const address = this.#source.url;
    this.#source = undefined;
    this.#retryTimer = setTimeout(this.#follow, this.#retry);
    this.#askWhy(address);
    this.#retry = Math.min(this.#retry * 2, LAST_RETRY);
  };

  // A stream does not say why it is refused. Whoever is signed out can sign in beside
  // this page, which keeps what was typed, and goes on by itself then; so it does if
  // what was taken from somebody is granted again.
  async #askWhy(address) {
    const options = { headers: { Accept: "application/json" }, signal: AbortSignal.timeout(PATIENCE) };
    const answer = await fetch(address, options).catch(() => undefined);
    answer?.body?.cancel();
    const why = REFUSALS[answer?.status];
    if (!why || this.isLive) return;
    clearTimeout(this.#patienceTimer); // no more than this is to be said
    this.#patienceTimer = 0;
    this.#say(...why);
    this.querySelector("a").target = "_blank";
  }

  #received = ({ data, lastEventId }) => {
    this.#queue.push(data);
    if (lastEventId) this.#seen = lastEventId;
    this.#frame ??= requestAnimationFrame(this.#apply);
  };

  // The task turned out to be one that is known already.
  #moved = ({ data }) => {
    this.#close();
    if (document.getElementById("composer-text")?.value) this.#say("This goes on in another task.", "Open it", data);
    else window.location.replace(data);
  };

  #apply = () => {
    this.#frame = undefined;
    const fragments = this.#queue.splice(0);
    if (!canSwap) return this.#say("There is something new.", "Refresh", window.location.pathname + window.location.search);
    const wasAtEnd = isAtEnd();
    const height = document.documentElement.scrollHeight;
    const asked = questionID();
    for (const html of fragments) swap(html);
    refreshTimes();
    tellInTitle();
    if (wasAtEnd && document.documentElement.scrollHeight > height) followEnd(questionID() !== asked);
  };

  #say(text, action, href) {
    this.replaceChildren(text);
    if (action) {
      const link = document.createElement("a");
      link.href = href;
      link.textContent = action;
      this.append(" ", link);
    }
    this.hidden = !text;
  }
}

function swap(html) {
  const holder = document.createElement("div");
  holder.setHTML(html, { sanitizer });
  const element = holder.firstElementChild;
  if (!element?.id) return;
  const present = document.getElementById(element.id);
  if (present) morph(present, element);
  else insert(document.getElementById(element.dataset.into), element);
}

function insert(list, element) {
  const after = Array.from(list?.children ?? []).find((other) => Number(other.dataset.order) > Number(element.dataset.order));
  list?.insertBefore(element, after ?? null);
}

// On the page of a task, someone who reads at the end stays there.
function isAtEnd() {
  const { scrollHeight } = document.documentElement;
  return document.getElementById("timeline") !== null && window.innerHeight + window.scrollY >= scrollHeight - NEAR_END;
}

const questionID = () => document.querySelector("#question > section:not([data-gone])")?.id;

function followEnd(isNewQuestion) {
  const isWriting = document.getElementById("composer")?.contains(document.activeElement);
  const question = document.getElementById(questionID() ?? "");
  if (isNewQuestion && question && !isWriting) question.scrollIntoView({ block: "start", behavior: "instant" });
  else window.scrollTo({ top: document.documentElement.scrollHeight, behavior: "instant" });
}

const stateOfTask = () => document.getElementById("task-state")?.textContent.trim();

let toldState = stateOfTask();

// A tab in the background tells how many tasks wait, and how the one on the page
// stands.
function tellInTitle() {
  const count = Number(document.getElementById("nav-tasks")?.dataset.count);
  const state = stateOfTask();
  let title = document.title.replace(/^\(\d+\) /, "");
  if (state && title.startsWith(`${toldState}: `)) title = state + title.slice(toldState.length);
  toldState = state;
  document.title = count > 0 ? `(${count}) ${title}` : title;
}

customElements.define("live-region", LiveRegion);
