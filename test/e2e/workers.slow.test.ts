// A Prometheus answers every query of the dashboards and the alerts.
import "./workers.test.ts";
