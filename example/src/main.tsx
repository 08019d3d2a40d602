/** Starts the page of pictures. */
import { App } from "./App.js";
import { start } from "./start.js";
import "./styles/index.css";

start(<App />);
