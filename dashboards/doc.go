// Package dashboards is the room for what people look at: the HTML report, the
// live page, and the Grafana and Prometheus files. It reads results, and
// nothing else of the project.
//
// Nothing is shown here yet; a run's figures are its table on the terminal and
// the files beside its result.json.
package dashboards
