// Runs before the first paint: applies the theme that was chosen on this device.
// Without a choice, or without storage, the system's preference holds.
try {
  const theme = localStorage.getItem("theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Storage is off.
}
