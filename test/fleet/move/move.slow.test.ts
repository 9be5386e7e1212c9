// The runner ends after each of its steps.
import "./move.test.ts";
