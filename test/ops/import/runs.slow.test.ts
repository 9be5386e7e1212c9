// An import dies before and after each of its writes.
import "./runs.test.ts";
