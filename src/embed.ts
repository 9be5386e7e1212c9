/** What a program imports that runs an app inside itself: `import { openCorkboard } from "corkboard/embed"`. */
export { type Corkboard, openCorkboard } from "./app/openCorkboard.ts";
export { startCorkboardServer } from "./app/startCorkboardServer.ts";
export { type Config, readConfig } from "./config/config.ts";
