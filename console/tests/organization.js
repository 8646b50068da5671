/** Two servers in one site with one folder: what most tests of the state need. */
export const TOPOLOGY = {
  organization: "Contoso",
  domain: "contoso.test",
  sites: ["SEA"],
  connectors: [],
  servers: { A: { site: "SEA", version: "2003" }, B: { site: "SEA", version: "2003" } },
  folders: { Projects: { replicas: ["A", "B"] } },
};
