/** Starts the page for operators of the farm: `dashboard.html`. */
import { Dashboard } from "convex-conveyor/dashboard";
import "convex-conveyor/dashboard.css";
import { api } from "../convex/_generated/api.js";
import { start } from "./start.js";
import "./styles/dashboard.css";

start(<Dashboard api={api.dashboard} title="Render farm" />);
