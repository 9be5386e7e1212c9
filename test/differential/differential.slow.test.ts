// Up to eleven times as many operations.
import "./differential.test.ts";
