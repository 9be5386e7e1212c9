// Three times as many operations.
import "./differential.test.ts";
