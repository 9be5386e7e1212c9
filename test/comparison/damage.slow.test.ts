// Every kind of list.
import "./damage.test.ts";
