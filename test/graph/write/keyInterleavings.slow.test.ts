// Every order, not a sample.
import "./keyInterleavings.test.ts";
