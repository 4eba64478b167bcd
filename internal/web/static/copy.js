// <copy-button for="id">: copies the exact text of an element. Browsers give the
// clipboard to secure pages only; elsewhere the button is not shown.

const SHOWN = 1_500; // milliseconds that the button says what it did

/**
 * Returns the text of an element as the agent wrote it: where the page shows a
 * mark such as "U+200B ×2", the characters that it stands for.
 */
export function exactText(element) {
  const copy = element.cloneNode(true);
  for (const mark of copy.querySelectorAll(".hidden-mark")) {
    const [, code, times = "1"] = mark.textContent.match(/^U\+([0-9A-F]+)(?: ×(\d+))?$/) ?? [];
    if (code) mark.textContent = String.fromCodePoint(Number.parseInt(code, 16)).repeat(Number(times));
  }
  return copy.textContent;
}

class CopyButton extends HTMLElement {
  connectedCallback() {
    this.addEventListener("click", this.#copy);
  }

  #copy = async () => {
    const source = document.getElementById(this.getAttribute("for"));
    const button = this.querySelector("button");
    if (!source || !button) return;
    const label = button.ariaLabel;
    try {
      await navigator.clipboard.writeText(exactText(source));
      button.ariaLabel = button.title = "Copied";
      this.dataset.done = "";
    } catch {
      button.ariaLabel = button.title = "Could not copy";
    }
    setTimeout(() => {
      button.ariaLabel = button.title = label;
      delete this.dataset.done;
    }, SHOWN);
  };
}

if (navigator.clipboard) customElements.define("copy-button", CopyButton);
