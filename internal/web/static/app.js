// What every page has. Each module stands by itself; without any of them the
// pages still work.
import "./composer.js";
import "./copy.js";
import "./live.js";
import "./theme-switch.js";
import { keepTimes } from "./times.js";

keepTimes();
