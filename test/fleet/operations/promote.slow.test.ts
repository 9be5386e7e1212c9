// The command is killed after each of its steps.
import "./promote.test.ts";
