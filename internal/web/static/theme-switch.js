// <theme-switch>: the theme of this device. theme.js applies it to the next page
// before it is painted.

class ThemeSwitch extends HTMLElement {
  connectedCallback() {
    const current = document.documentElement.dataset.theme ?? "system";
    for (const input of this.querySelectorAll("input")) input.checked = input.value === current;
    this.addEventListener("change", ({ target }) => choose(target.value));
  }
}

function choose(theme) {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  try {
    if (theme === "system") localStorage.removeItem("theme");
    else localStorage.setItem("theme", theme);
  } catch {
    // Storage is off: the choice holds for this page.
  }
}

customElements.define("theme-switch", ThemeSwitch);
