-- Made by `make sql` from the tables in PySpark. Do not edit.
-- shape {"type": "VARCHAR", "run": "VARCHAR", "node": "VARCHAR", "incarnation": "BIGINT", "seq": "BIGINT", "lamport": "BIGINT", "at": "BIGINT", "real": "DOUBLE", "mail": "VARCHAR", "v": "BIGINT", "topology": "VARCHAR", "seed": "VARCHAR", "settings": "MAP(VARCHAR, VARCHAR)", "version": "VARCHAR", "verdict": "VARCHAR", "replica_guid": "VARCHAR", "reason": "VARCHAR", "how": "VARCHAR", "store": "VARCHAR", "backup": "VARCHAR", "through": "BIGINT", "of": "VARCHAR", "directory_object": "BIGINT", "revision": "BIGINT", "subject": "VARCHAR", "change": "VARCHAR", "name": "VARCHAR", "value": "VARCHAR", "default": "VARCHAR", "recipient_update": "VARCHAR", "domain": "VARCHAR", "at_once": "BOOLEAN", "policy": "VARCHAR", "policies": "STRUCT(\"name\" VARCHAR, \"domain\" VARCHAR, \"sites\" VARCHAR[], \"servers\" VARCHAR[], \"versions\" VARCHAR[])[]", "rate": "DOUBLE", "to": "BIGINT", "fault": "VARCHAR", "kind": "VARCHAR", "details": "MAP(VARCHAR, VARCHAR)", "server": "VARCHAR", "next_hop": "VARCHAR", "recipients": "VARCHAR[]", "message_type": "BIGINT", "folders": "VARCHAR", "size": "BIGINT", "number": "VARCHAR", "marks": "VARCHAR[]", "sender": "VARCHAR", "folder": "VARCHAR", "object": "VARCHAR", "recipient": "VARCHAR", "connector": "VARCHAR", "attempt": "BIGINT", "queue_id": "BIGINT", "ordinary": "VARCHAR", "begun_at": "BIGINT", "retry_at": "BIGINT", "peer": "VARCHAR", "authenticated": "BOOLEAN", "by": "VARCHAR", "avoided": "BOOLEAN", "operation": "VARCHAR", "modified_at": "BIGINT", "supersedes": "VARCHAR[]", "pcl": "VARCHAR", "digest": "VARCHAR", "replicas": "VARCHAR[]", "parent": "VARCHAR", "resolve": "VARCHAR", "rivals": "VARCHAR[]", "limit_us": "BIGINT", "deleted_at": "BIGINT", "retention_us": "BIGINT", "way": "VARCHAR", "stands_for": "VARCHAR", "deleted": "BOOLEAN", "until_at": "BIGINT", "waits_for": "VARCHAR", "winner": "VARCHAR", "since_at": "BIGINT", "versions": "VARCHAR[]", "contacts": "VARCHAR[]", "cnset": "VARCHAR", "cnset_fai": "VARCHAR", "sent_at": "BIGINT", "sent_number": "BIGINT", "entry": "BIGINT", "local": "BOOLEAN", "due_at": "BIGINT", "source": "VARCHAR", "requester": "VARCHAR", "request_mail": "VARCHAR", "mails": "BIGINT", "expired": "VARCHAR", "candidates": "STRUCT(\"store\" VARCHAR, \"down\" BOOLEAN, \"preferred\" BOOLEAN, \"cost\" BIGINT, \"version\" VARCHAR, \"has\" BIGINT, \"passed_over\" VARCHAR, \"site\" VARCHAR, \"near\" BOOLEAN, \"group\" BIGINT, \"has_all\" BOOLEAN, \"affinity\" BIGINT, \"transit_us\" BIGINT, \"backfilled_at\" BIGINT, \"guid\" VARCHAR, \"active\" BOOLEAN, \"added_at\" BIGINT, \"leaving\" BOOLEAN)[]", "chosen": "VARCHAR[]", "method": "VARCHAR", "missing": "VARCHAR", "missing_fai": "VARCHAR", "one_by_one": "BOOLEAN", "limit": "BIGINT", "last_update_at": "BIGINT", "stores": "VARCHAR[]", "address": "VARCHAR", "linked": "BOOLEAN", "forced": "BOOLEAN", "path": "VARCHAR"}
-- given {"runs": "trace string", "folders": "trace string, folder string", "moments": "nth int, trace string, moment bigint"}

-- table silver/numbers
-- columns "trace" VARCHAR, "node" VARCHAR, "bucket" BIGINT, "found" BIGINT, "distinct" BIGINT, "last" BIGINT, "last_type" VARCHAR, "is_lab" BOOLEAN, "types" VARCHAR[]
SELECT c2 AS "trace", c4 AS "node", c6 AS "bucket", c7 AS "found", c8 AS "distinct", c9 AS "last", c10 AS "last_type", c11 AS "is_lab", c12 AS "types" FROM (SELECT c2, c4, bucket_of(c5) AS c6, count(1) AS c7, count(DISTINCT c5) AS c8, max(c5) AS c9, arg_max_null(c3, c5) AS c10, max((c3 = 'run.started')) AS c11, coalesce(list(DISTINCT CASE WHEN (c1 IS NULL) THEN c3 END) FILTER (WHERE CASE WHEN (c1 IS NULL) THEN c3 END IS NOT NULL), []) AS c12 FROM 
(SELECT "trace" AS c2, "aside" AS c1, "type" AS c3, "node" AS c4, "seq" AS c5 FROM "bronze") WHERE ((c1 IS NULL) OR (c1 = 'unknown type')) GROUP BY c2, c4, bucket_of(c5));

-- table silver/events
-- columns "trace" VARCHAR, "node" VARCHAR, "place" VARCHAR, "file" VARCHAR, "aside" VARCHAR, "text" VARCHAR, "hash" BIGINT, "type" VARCHAR, "run" VARCHAR, "incarnation" BIGINT, "seq" BIGINT, "lamport" BIGINT, "at" BIGINT, "real" DOUBLE, "mail" VARCHAR, "v" BIGINT, "topology" VARCHAR, "seed" VARCHAR, "settings" MAP(VARCHAR, VARCHAR), "version" VARCHAR, "verdict" VARCHAR, "replica_guid" VARCHAR, "reason" VARCHAR, "how" VARCHAR, "store" VARCHAR, "backup" VARCHAR, "through" BIGINT, "of" VARCHAR, "directory_object" BIGINT, "revision" BIGINT, "subject" VARCHAR, "change" VARCHAR, "name" VARCHAR, "value" VARCHAR, "default" VARCHAR, "recipient_update" VARCHAR, "domain" VARCHAR, "at_once" BOOLEAN, "policy" VARCHAR, "policies" STRUCT("name" VARCHAR, "domain" VARCHAR, "sites" VARCHAR[], "servers" VARCHAR[], "versions" VARCHAR[])[], "rate" DOUBLE, "to" BIGINT, "fault" VARCHAR, "kind" VARCHAR, "details" MAP(VARCHAR, VARCHAR), "server" VARCHAR, "next_hop" VARCHAR, "recipients" VARCHAR[], "message_type" BIGINT, "folders" VARCHAR, "size" BIGINT, "number" VARCHAR, "marks" VARCHAR[], "sender" VARCHAR, "folder" VARCHAR, "object" VARCHAR, "recipient" VARCHAR, "connector" VARCHAR, "attempt" BIGINT, "queue_id" BIGINT, "ordinary" VARCHAR, "begun_at" BIGINT, "retry_at" BIGINT, "peer" VARCHAR, "authenticated" BOOLEAN, "by" VARCHAR, "avoided" BOOLEAN, "operation" VARCHAR, "modified_at" BIGINT, "supersedes" VARCHAR[], "pcl" VARCHAR, "digest" VARCHAR, "replicas" VARCHAR[], "parent" VARCHAR, "resolve" VARCHAR, "rivals" VARCHAR[], "limit_us" BIGINT, "deleted_at" BIGINT, "retention_us" BIGINT, "way" VARCHAR, "stands_for" VARCHAR, "deleted" BOOLEAN, "until_at" BIGINT, "waits_for" VARCHAR, "winner" VARCHAR, "since_at" BIGINT, "versions" VARCHAR[], "contacts" VARCHAR[], "cnset" VARCHAR, "cnset_fai" VARCHAR, "sent_at" BIGINT, "sent_number" BIGINT, "entry" BIGINT, "local" BOOLEAN, "due_at" BIGINT, "source" VARCHAR, "requester" VARCHAR, "request_mail" VARCHAR, "mails" BIGINT, "expired" VARCHAR, "candidates" STRUCT("store" VARCHAR, "down" BOOLEAN, "preferred" BOOLEAN, "cost" BIGINT, "version" VARCHAR, "has" BIGINT, "passed_over" VARCHAR, "site" VARCHAR, "near" BOOLEAN, "group" BIGINT, "has_all" BOOLEAN, "affinity" BIGINT, "transit_us" BIGINT, "backfilled_at" BIGINT, "guid" VARCHAR, "active" BOOLEAN, "added_at" BIGINT, "leaving" BOOLEAN)[], "chosen" VARCHAR[], "method" VARCHAR, "missing" VARCHAR, "missing_fai" VARCHAR, "one_by_one" BOOLEAN, "limit" BIGINT, "last_update_at" BIGINT, "stores" VARCHAR[], "address" VARCHAR, "linked" BOOLEAN, "forced" BOOLEAN, "path" VARCHAR, "family" VARCHAR
SELECT c2 AS "trace", c10 AS "node", c3 AS "place", c4 AS "file", c5 AS "aside", c6 AS "text", c7 AS "hash", c8 AS "type", c9 AS "run", c11 AS "incarnation", c12 AS "seq", c13 AS "lamport", c14 AS "at", c15 AS "real", c16 AS "mail", c17 AS "v", c18 AS "topology", c19 AS "seed", c20 AS "settings", c21 AS "version", c22 AS "verdict", c23 AS "replica_guid", c24 AS "reason", c25 AS "how", c26 AS "store", c27 AS "backup", c28 AS "through", c29 AS "of", c30 AS "directory_object", c31 AS "revision", c32 AS "subject", c33 AS "change", c34 AS "name", c35 AS "value", c36 AS "default", c37 AS "recipient_update", c38 AS "domain", c39 AS "at_once", c40 AS "policy", c41 AS "policies", c42 AS "rate", c43 AS "to", c44 AS "fault", c45 AS "kind", c46 AS "details", c47 AS "server", c48 AS "next_hop", c49 AS "recipients", c50 AS "message_type", c51 AS "folders", c52 AS "size", c53 AS "number", c54 AS "marks", c55 AS "sender", c56 AS "folder", c57 AS "object", c58 AS "recipient", c59 AS "connector", c60 AS "attempt", c61 AS "queue_id", c62 AS "ordinary", c63 AS "begun_at", c64 AS "retry_at", c65 AS "peer", c66 AS "authenticated", c67 AS "by", c68 AS "avoided", c69 AS "operation", c70 AS "modified_at", c71 AS "supersedes", c72 AS "pcl", c73 AS "digest", c74 AS "replicas", c75 AS "parent", c76 AS "resolve", c77 AS "rivals", c78 AS "limit_us", c79 AS "deleted_at", c80 AS "retention_us", c81 AS "way", c82 AS "stands_for", c83 AS "deleted", c84 AS "until_at", c85 AS "waits_for", c86 AS "winner", c87 AS "since_at", c88 AS "versions", c89 AS "contacts", c90 AS "cnset", c91 AS "cnset_fai", c92 AS "sent_at", c93 AS "sent_number", c94 AS "entry", c95 AS "local", c96 AS "due_at", c97 AS "source", c98 AS "requester", c99 AS "request_mail", c100 AS "mails", c101 AS "expired", c102 AS "candidates", c103 AS "chosen", c104 AS "method", c105 AS "missing", c106 AS "missing_fai", c107 AS "one_by_one", c108 AS "limit", c109 AS "last_update_at", c110 AS "stores", c111 AS "address", c112 AS "linked", c113 AS "forced", c114 AS "path", c1 AS "family" FROM (SELECT c2, c10, c3, c4, c5, c6, c7, c8, c9, c11, c12, c13, c14, c15, c16, c17, c18, c19, c20, c21, c22, c23, c24, c25, c26, c27, c28, c29, c30, c31, c32, c33, c34, c35, c36, c37, c38, c39, c40, c41, c42, c43, c44, c45, c46, c47, c48, c49, c50, c51, c52, c53, c54, c55, c56, c57, c58, c59, c60, c61, c62, c63, c64, c65, c66, c67, c68, c69, c70, c71, c72, c73, c74, c75, c76, c77, c78, c79, c80, c81, c82, c83, c84, c85, c86, c87, c88, c89, c90, c91, c92, c93, c94, c95, c96, c97, c98, c99, c100, c101, c102, c103, c104, c105, c106, c107, c108, c109, c110, c111, c112, c113, c114, c1 FROM 
(SELECT c2 AS c2, c10 AS c10, c3 AS c3, c4 AS c4, c5 AS c5, c6 AS c6, c7 AS c7, c8 AS c8, c9 AS c9, c11 AS c11, c12 AS c12, c13 AS c13, c14 AS c14, c15 AS c15, c16 AS c16, c17 AS c17, c18 AS c18, c19 AS c19, c20 AS c20, c21 AS c21, c22 AS c22, c23 AS c23, c24 AS c24, c25 AS c25, c26 AS c26, c27 AS c27, c28 AS c28, c29 AS c29, c30 AS c30, c31 AS c31, c32 AS c32, c33 AS c33, c34 AS c34, c35 AS c35, c36 AS c36, c37 AS c37, c38 AS c38, c39 AS c39, c40 AS c40, c41 AS c41, c42 AS c42, c43 AS c43, c44 AS c44, c45 AS c45, c46 AS c46, c47 AS c47, c48 AS c48, c49 AS c49, c50 AS c50, c51 AS c51, c52 AS c52, c53 AS c53, c54 AS c54, c55 AS c55, c56 AS c56, c57 AS c57, c58 AS c58, c59 AS c59, c60 AS c60, c61 AS c61, c62 AS c62, c63 AS c63, c64 AS c64, c65 AS c65, c66 AS c66, c67 AS c67, c68 AS c68, c69 AS c69, c70 AS c70, c71 AS c71, c72 AS c72, c73 AS c73, c74 AS c74, c75 AS c75, c76 AS c76, c77 AS c77, c78 AS c78, c79 AS c79, c80 AS c80, c81 AS c81, c82 AS c82, c83 AS c83, c84 AS c84, c85 AS c85, c86 AS c86, c87 AS c87, c88 AS c88, c89 AS c89, c90 AS c90, c91 AS c91, c92 AS c92, c93 AS c93, c94 AS c94, c95 AS c95, c96 AS c96, c97 AS c97, c98 AS c98, c99 AS c99, c100 AS c100, c101 AS c101, c102 AS c102, c103 AS c103, c104 AS c104, c105 AS c105, c106 AS c106, c107 AS c107, c108 AS c108, c109 AS c109, c110 AS c110, c111 AS c111, c112 AS c112, c113 AS c113, c114 AS c114, c1 AS c1 FROM 
(SELECT c2, c10, c3, c4, c5, c6, c7, c8, c9, c11, c12, c13, c14, c15, c16, c17, c18, c19, c20, c21, c22, c23, c24, c25, c26, c27, c28, c29, c30, c31, c32, c33, c34, c35, c36, c37, c38, c39, c40, c41, c42, c43, c44, c45, c46, c47, c48, c49, c50, c51, c52, c53, c54, c55, c56, c57, c58, c59, c60, c61, c62, c63, c64, c65, c66, c67, c68, c69, c70, c71, c72, c73, c74, c75, c76, c77, c78, c79, c80, c81, c82, c83, c84, c85, c86, c87, c88, c89, c90, c91, c92, c93, c94, c95, c96, c97, c98, c99, c100, c101, c102, c103, c104, c105, c106, c107, c108, c109, c110, c111, c112, c113, c114, c1 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19, c20, c21, c22, c23, c24, c25, c26, c27, c28, c29, c30, c31, c32, c33, c34, c35, c36, c37, c38, c39, c40, c41, c42, c43, c44, c45, c46, c47, c48, c49, c50, c51, c52, c53, c54, c55, c56, c57, c58, c59, c60, c61, c62, c63, c64, c65, c66, c67, c68, c69, c70, c71, c72, c73, c74, c75, c76, c77, c78, c79, c80, c81, c82, c83, c84, c85, c86, c87, c88, c89, c90, c91, c92, c93, c94, c95, c96, c97, c98, c99, c100, c101, c102, c103, c104, c105, c106, c107, c108, c109, c110, c111, c112, c113, c114, c1, bucket_of(c12) AS c115 FROM 
(SELECT "trace" AS c2, "place" AS c3, "file" AS c4, "aside" AS c5, "text" AS c6, "hash" AS c7, "type" AS c8, "run" AS c9, "node" AS c10, "incarnation" AS c11, "seq" AS c12, "lamport" AS c13, "at" AS c14, "real" AS c15, "mail" AS c16, "v" AS c17, "topology" AS c18, "seed" AS c19, "settings" AS c20, "version" AS c21, "verdict" AS c22, "replica_guid" AS c23, "reason" AS c24, "how" AS c25, "store" AS c26, "backup" AS c27, "through" AS c28, "of" AS c29, "directory_object" AS c30, "revision" AS c31, "subject" AS c32, "change" AS c33, "name" AS c34, "value" AS c35, "default" AS c36, "recipient_update" AS c37, "domain" AS c38, "at_once" AS c39, "policy" AS c40, "policies" AS c41, "rate" AS c42, "to" AS c43, "fault" AS c44, "kind" AS c45, "details" AS c46, "server" AS c47, "next_hop" AS c48, "recipients" AS c49, "message_type" AS c50, "folders" AS c51, "size" AS c52, "number" AS c53, "marks" AS c54, "sender" AS c55, "folder" AS c56, "object" AS c57, "recipient" AS c58, "connector" AS c59, "attempt" AS c60, "queue_id" AS c61, "ordinary" AS c62, "begun_at" AS c63, "retry_at" AS c64, "peer" AS c65, "authenticated" AS c66, "by" AS c67, "avoided" AS c68, "operation" AS c69, "modified_at" AS c70, "supersedes" AS c71, "pcl" AS c72, "digest" AS c73, "replicas" AS c74, "parent" AS c75, "resolve" AS c76, "rivals" AS c77, "limit_us" AS c78, "deleted_at" AS c79, "retention_us" AS c80, "way" AS c81, "stands_for" AS c82, "deleted" AS c83, "until_at" AS c84, "waits_for" AS c85, "winner" AS c86, "since_at" AS c87, "versions" AS c88, "contacts" AS c89, "cnset" AS c90, "cnset_fai" AS c91, "sent_at" AS c92, "sent_number" AS c93, "entry" AS c94, "local" AS c95, "due_at" AS c96, "source" AS c97, "requester" AS c98, "request_mail" AS c99, "mails" AS c100, "expired" AS c101, "candidates" AS c102, "chosen" AS c103, "method" AS c104, "missing" AS c105, "missing_fai" AS c106, "one_by_one" AS c107, "limit" AS c108, "last_update_at" AS c109, "stores" AS c110, "address" AS c111, "linked" AS c112, "forced" AS c113, "path" AS c114, "family" AS c1 FROM "bronze") WHERE (NOT (c1 = 'aside')))) ANTI JOIN 
(SELECT * FROM 
(SELECT c118, c119, c120 FROM 
(SELECT "trace" AS c118, "node" AS c119, "bucket" AS c120, "found" AS c116, "distinct" AS c117 FROM "silver/numbers") WHERE (c116 > c117))) ON (((c2 = c118) AND (c10 = c119)) AND (c115 = c120))))
UNION ALL SELECT c123 AS c2, c131 AS c10, c124 AS c3, c125 AS c4, c126 AS c5, c127 AS c6, c128 AS c7, c129 AS c8, c130 AS c9, c132 AS c11, c133 AS c12, c134 AS c13, c135 AS c14, c136 AS c15, c137 AS c16, c138 AS c17, c139 AS c18, c140 AS c19, c141 AS c20, c142 AS c21, c143 AS c22, c144 AS c23, c145 AS c24, c146 AS c25, c147 AS c26, c148 AS c27, c149 AS c28, c150 AS c29, c151 AS c30, c152 AS c31, c153 AS c32, c154 AS c33, c155 AS c34, c156 AS c35, c157 AS c36, c158 AS c37, c159 AS c38, c160 AS c39, c161 AS c40, c162 AS c41, c163 AS c42, c164 AS c43, c165 AS c44, c166 AS c45, c167 AS c46, c168 AS c47, c169 AS c48, c170 AS c49, c171 AS c50, c172 AS c51, c173 AS c52, c174 AS c53, c175 AS c54, c176 AS c55, c177 AS c56, c178 AS c57, c179 AS c58, c180 AS c59, c181 AS c60, c182 AS c61, c183 AS c62, c184 AS c63, c185 AS c64, c186 AS c65, c187 AS c66, c188 AS c67, c189 AS c68, c190 AS c69, c191 AS c70, c192 AS c71, c193 AS c72, c194 AS c73, c195 AS c74, c196 AS c75, c197 AS c76, c198 AS c77, c199 AS c78, c200 AS c79, c201 AS c80, c202 AS c81, c203 AS c82, c204 AS c83, c205 AS c84, c206 AS c85, c207 AS c86, c208 AS c87, c209 AS c88, c210 AS c89, c211 AS c90, c212 AS c91, c213 AS c92, c214 AS c93, c215 AS c94, c216 AS c95, c217 AS c96, c218 AS c97, c219 AS c98, c220 AS c99, c221 AS c100, c222 AS c101, c223 AS c102, c224 AS c103, c225 AS c104, c226 AS c105, c227 AS c106, c228 AS c107, c229 AS c108, c230 AS c109, c231 AS c110, c232 AS c111, c233 AS c112, c234 AS c113, c235 AS c114, c122 AS c1 FROM 
(SELECT c123, c131, c124, c125, c126, c127, c128, c129, c130, c132, c133, c134, c135, c136, c137, c138, c139, c140, c141, c142, c143, c144, c145, c146, c147, c148, c149, c150, c151, c152, c153, c154, c155, c156, c157, c158, c159, c160, c161, c162, c163, c164, c165, c166, c167, c168, c169, c170, c171, c172, c173, c174, c175, c176, c177, c178, c179, c180, c181, c182, c183, c184, c185, c186, c187, c188, c189, c190, c191, c192, c193, c194, c195, c196, c197, c198, c199, c200, c201, c202, c203, c204, c205, c206, c207, c208, c209, c210, c211, c212, c213, c214, c215, c216, c217, c218, c219, c220, c221, c222, c223, c224, c225, c226, c227, c228, c229, c230, c231, c232, c233, c234, c235, c122 FROM 
(SELECT c123, c131, c124, c125, c126, c127, c128, c129, c130, c132, c133, c134, c135, c136, c137, c138, c139, c140, c141, c142, c143, c144, c145, c146, c147, c148, c149, c150, c151, c152, c153, c154, c155, c156, c157, c158, c159, c160, c161, c162, c163, c164, c165, c166, c167, c168, c169, c170, c171, c172, c173, c174, c175, c176, c177, c178, c179, c180, c181, c182, c183, c184, c185, c186, c187, c188, c189, c190, c191, c192, c193, c194, c195, c196, c197, c198, c199, c200, c201, c202, c203, c204, c205, c206, c207, c208, c209, c210, c211, c212, c213, c214, c215, c216, c217, c218, c219, c220, c221, c222, c223, c224, c225, c226, c227, c228, c229, c230, c231, c232, c233, c234, c235, c122 FROM 
(SELECT c123, c131, c124, c125, c126, c127, c128, c129, c130, c132, c133, c134, c135, c136, c137, c138, c139, c140, c141, c142, c143, c144, c145, c146, c147, c148, c149, c150, c151, c152, c153, c154, c155, c156, c157, c158, c159, c160, c161, c162, c163, c164, c165, c166, c167, c168, c169, c170, c171, c172, c173, c174, c175, c176, c177, c178, c179, c180, c181, c182, c183, c184, c185, c186, c187, c188, c189, c190, c191, c192, c193, c194, c195, c196, c197, c198, c199, c200, c201, c202, c203, c204, c205, c206, c207, c208, c209, c210, c211, c212, c213, c214, c215, c216, c217, c218, c219, c220, c221, c222, c223, c224, c225, c226, c227, c228, c229, c230, c231, c232, c233, c234, c235, c122, c121 FROM 
(SELECT c123, c131, c124, c125, c126, c127, c128, c129, c130, c132, c133, c134, c135, c136, c137, c138, c139, c140, c141, c142, c143, c144, c145, c146, c147, c148, c149, c150, c151, c152, c153, c154, c155, c156, c157, c158, c159, c160, c161, c162, c163, c164, c165, c166, c167, c168, c169, c170, c171, c172, c173, c174, c175, c176, c177, c178, c179, c180, c181, c182, c183, c184, c185, c186, c187, c188, c189, c190, c191, c192, c193, c194, c195, c196, c197, c198, c199, c200, c201, c202, c203, c204, c205, c206, c207, c208, c209, c210, c211, c212, c213, c214, c215, c216, c217, c218, c219, c220, c221, c222, c223, c224, c225, c226, c227, c228, c229, c230, c231, c232, c233, c234, c235, c122, c121, c121 FROM 
(SELECT *, row_number() OVER (PARTITION BY c123, c131, c133 ORDER BY c125 ASC NULLS FIRST, c128 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS c121 FROM 
(SELECT c123, c131, c124, c125, c126, c127, c128, c129, c130, c132, c133, c134, c135, c136, c137, c138, c139, c140, c141, c142, c143, c144, c145, c146, c147, c148, c149, c150, c151, c152, c153, c154, c155, c156, c157, c158, c159, c160, c161, c162, c163, c164, c165, c166, c167, c168, c169, c170, c171, c172, c173, c174, c175, c176, c177, c178, c179, c180, c181, c182, c183, c184, c185, c186, c187, c188, c189, c190, c191, c192, c193, c194, c195, c196, c197, c198, c199, c200, c201, c202, c203, c204, c205, c206, c207, c208, c209, c210, c211, c212, c213, c214, c215, c216, c217, c218, c219, c220, c221, c222, c223, c224, c225, c226, c227, c228, c229, c230, c231, c232, c233, c234, c235, c122 FROM 
(SELECT c123, c131, c124, c125, c126, c127, c128, c129, c130, c132, c133, c134, c135, c136, c137, c138, c139, c140, c141, c142, c143, c144, c145, c146, c147, c148, c149, c150, c151, c152, c153, c154, c155, c156, c157, c158, c159, c160, c161, c162, c163, c164, c165, c166, c167, c168, c169, c170, c171, c172, c173, c174, c175, c176, c177, c178, c179, c180, c181, c182, c183, c184, c185, c186, c187, c188, c189, c190, c191, c192, c193, c194, c195, c196, c197, c198, c199, c200, c201, c202, c203, c204, c205, c206, c207, c208, c209, c210, c211, c212, c213, c214, c215, c216, c217, c218, c219, c220, c221, c222, c223, c224, c225, c226, c227, c228, c229, c230, c231, c232, c233, c234, c235, c122 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c123, c124, c125, c126, c127, c128, c129, c130, c131, c132, c133, c134, c135, c136, c137, c138, c139, c140, c141, c142, c143, c144, c145, c146, c147, c148, c149, c150, c151, c152, c153, c154, c155, c156, c157, c158, c159, c160, c161, c162, c163, c164, c165, c166, c167, c168, c169, c170, c171, c172, c173, c174, c175, c176, c177, c178, c179, c180, c181, c182, c183, c184, c185, c186, c187, c188, c189, c190, c191, c192, c193, c194, c195, c196, c197, c198, c199, c200, c201, c202, c203, c204, c205, c206, c207, c208, c209, c210, c211, c212, c213, c214, c215, c216, c217, c218, c219, c220, c221, c222, c223, c224, c225, c226, c227, c228, c229, c230, c231, c232, c233, c234, c235, c122, bucket_of(c133) AS c236 FROM 
(SELECT "trace" AS c123, "place" AS c124, "file" AS c125, "aside" AS c126, "text" AS c127, "hash" AS c128, "type" AS c129, "run" AS c130, "node" AS c131, "incarnation" AS c132, "seq" AS c133, "lamport" AS c134, "at" AS c135, "real" AS c136, "mail" AS c137, "v" AS c138, "topology" AS c139, "seed" AS c140, "settings" AS c141, "version" AS c142, "verdict" AS c143, "replica_guid" AS c144, "reason" AS c145, "how" AS c146, "store" AS c147, "backup" AS c148, "through" AS c149, "of" AS c150, "directory_object" AS c151, "revision" AS c152, "subject" AS c153, "change" AS c154, "name" AS c155, "value" AS c156, "default" AS c157, "recipient_update" AS c158, "domain" AS c159, "at_once" AS c160, "policy" AS c161, "policies" AS c162, "rate" AS c163, "to" AS c164, "fault" AS c165, "kind" AS c166, "details" AS c167, "server" AS c168, "next_hop" AS c169, "recipients" AS c170, "message_type" AS c171, "folders" AS c172, "size" AS c173, "number" AS c174, "marks" AS c175, "sender" AS c176, "folder" AS c177, "object" AS c178, "recipient" AS c179, "connector" AS c180, "attempt" AS c181, "queue_id" AS c182, "ordinary" AS c183, "begun_at" AS c184, "retry_at" AS c185, "peer" AS c186, "authenticated" AS c187, "by" AS c188, "avoided" AS c189, "operation" AS c190, "modified_at" AS c191, "supersedes" AS c192, "pcl" AS c193, "digest" AS c194, "replicas" AS c195, "parent" AS c196, "resolve" AS c197, "rivals" AS c198, "limit_us" AS c199, "deleted_at" AS c200, "retention_us" AS c201, "way" AS c202, "stands_for" AS c203, "deleted" AS c204, "until_at" AS c205, "waits_for" AS c206, "winner" AS c207, "since_at" AS c208, "versions" AS c209, "contacts" AS c210, "cnset" AS c211, "cnset_fai" AS c212, "sent_at" AS c213, "sent_number" AS c214, "entry" AS c215, "local" AS c216, "due_at" AS c217, "source" AS c218, "requester" AS c219, "request_mail" AS c220, "mails" AS c221, "expired" AS c222, "candidates" AS c223, "chosen" AS c224, "method" AS c225, "missing" AS c226, "missing_fai" AS c227, "one_by_one" AS c228, "limit" AS c229, "last_update_at" AS c230, "stores" AS c231, "address" AS c232, "linked" AS c233, "forced" AS c234, "path" AS c235, "family" AS c122 FROM "bronze") WHERE (NOT (c122 = 'aside')))) SEMI JOIN 
(SELECT * FROM 
(SELECT c239, c240, c241 FROM 
(SELECT "trace" AS c239, "node" AS c240, "bucket" AS c241, "found" AS c237, "distinct" AS c238 FROM "silver/numbers") WHERE (c237 > c238))) ON (((c123 = c239) AND (c131 = c240)) AND (c236 = c241)))))))) WHERE (c121 = 1)))));

-- table organization/servers
-- columns "trace" VARCHAR, "store" VARCHAR, "site" VARCHAR, "version" VARCHAR, "later" BOOLEAN
SELECT c5 AS "trace", c1 AS "store", c13 AS "site", c14 AS "version", c15 AS "later" FROM (SELECT c5, c1, arg_max_null(c10, c8) AS c13, arg_max_null(c11, c8) AS c14, min(c12) AS c15 FROM 
(SELECT c5, c8, c1, (c2)."site" AS c10, (c2)."version" AS c11, ((c2)."joins" = 'later') AS c12 FROM 
(SELECT c5, c8, c1, c2 FROM 
(SELECT * EXCLUDE (uc1), uc1.key AS c1, uc1.value AS c2 FROM (SELECT *, unnest(map_entries((c9)."servers")) AS uc1 FROM 
(SELECT c5, c8, struct_from_json(c6, '"STRUCT(\"servers\" MAP(VARCHAR, STRUCT(\"site\" VARCHAR, \"version\" VARCHAR, \"joins\" VARCHAR)))"') AS c9 FROM 
(SELECT c5, coalesce(c7, (0)::BIGINT) AS c8, c6 FROM 
(SELECT "trace" AS c5, "type" AS c4, "topology" AS c6, "revision" AS c7, "family" AS c3 FROM "silver/events") WHERE ((c3 IN ('run')) AND (c4 IN ('run.started', 'organization.changed'))))))))) GROUP BY c5, c1);

-- table organization/members
-- columns "trace" VARCHAR, "revision" BIGINT, "store" VARCHAR, "site" VARCHAR, "version" VARCHAR
SELECT c5 AS "trace", c8 AS "revision", c1 AS "store", c10 AS "site", c11 AS "version" FROM (SELECT c5, c8, c1, c10, c11 FROM 
(SELECT c5, c8, c1, (c2)."site" AS c10, (c2)."version" AS c11 FROM 
(SELECT c5, c8, c1, c2 FROM 
(SELECT * EXCLUDE (uc1), uc1.key AS c1, uc1.value AS c2 FROM (SELECT *, unnest(map_entries((c9)."servers")) AS uc1 FROM 
(SELECT c5, c8, struct_from_json(c6, '"STRUCT(\"servers\" MAP(VARCHAR, STRUCT(\"site\" VARCHAR, \"version\" VARCHAR, \"joins\" VARCHAR)))"') AS c9 FROM 
(SELECT c5, coalesce(c7, (0)::BIGINT) AS c8, c6 FROM 
(SELECT "trace" AS c5, "type" AS c4, "topology" AS c6, "revision" AS c7, "family" AS c3 FROM "silver/events") WHERE ((c3 IN ('run')) AND (c4 IN ('run.started', 'organization.changed'))))))))));

-- table organization/guids
-- columns "trace" VARCHAR, "guid" VARCHAR, "store" VARCHAR, "name" VARCHAR
SELECT c3 AS "trace", c8 AS "guid", c9 AS "store", c11 AS "name" FROM (SELECT c3, c8, c9, CASE WHEN (c10 = 1) THEN c9 ELSE (c9 || '.' || (c10)::VARCHAR) END AS c11 FROM 
(SELECT c3, c8, c9, c10 FROM 
(SELECT c3, c8, c9, c10, c10 FROM 
(SELECT *, row_number() OVER (PARTITION BY c3, c4 ORDER BY c7 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS c10 FROM 
(SELECT c3, c6 AS c8, c4 AS c9, c4, c7 FROM 
(SELECT c3, c4, c6, min(c5) AS c7 FROM 
(SELECT c3, c4, c5, c6 FROM 
(SELECT "trace" AS c3, "node" AS c4, "type" AS c2, "seq" AS c5, "replica_guid" AS c6, "family" AS c1 FROM "silver/events") WHERE ((c1 IN ('run')) AND (c2 IN ('node.started')))) GROUP BY c3, c4, c6))))));

-- table organization/genesis
-- columns "trace" VARCHAR, "start_at" BIGINT, "n" INTEGER, "path" VARCHAR, "name" VARCHAR, "parent_path" VARCHAR, "replicas" VARCHAR[], "schedule" VARCHAR, "resolve" VARCHAR, "priority" VARCHAR, "contacts" VARCHAR[]
SELECT c6 AS "trace", c10 AS "start_at", c11 AS "n", c2 AS "path", c12 AS "name", c13 AS "parent_path", c14 AS "replicas", c15 AS "schedule", c16 AS "resolve", c17 AS "priority", c18 AS "contacts" FROM (SELECT c6, c10, (c1 + 1) AS c11, c2, list_extract(str_split(c2, '/'), (-1)) AS c12, CASE WHEN (NOT (regexp_extract(c2, '^([^\n\r\x{85}\x{2028}\x{2029}]*)/[^/]*\z', 1) = '')) THEN regexp_extract(c2, '^([^\n\r\x{85}\x{2028}\x{2029}]*)/[^/]*\z', 1) END AS c13, (c3)."replicas" AS c14, coalesce((c3)."schedule", '') AS c15, coalesce((c3)."resolve", 'default') AS c16, coalesce((c3)."priority", 'normal') AS c17, coalesce((c3)."contacts", CAST([] AS VARCHAR[])) AS c18 FROM 
(SELECT c6, c7 AS c10, c1, c2, c3 FROM 
(SELECT * EXCLUDE (uc1), uc1.place::INTEGER AS c1, uc1.of.key AS c2, uc1.of.value AS c3 FROM (SELECT *, unnest(list_transform(map_entries((c9)."folders"), lambda pe, pi: {'place': pi - 1, 'of': pe})) AS uc1 FROM 
(SELECT c6, c7, struct_from_json(c8, '"STRUCT(\"folders\" MAP(VARCHAR, STRUCT(\"replicas\" VARCHAR[], \"schedule\" VARCHAR, \"resolve\" VARCHAR, \"priority\" VARCHAR, \"contacts\" VARCHAR[])))"') AS c9 FROM 
(SELECT c6, c7, c8 FROM 
(SELECT "trace" AS c6, "type" AS c5, "at" AS c7, "topology" AS c8, "family" AS c4 FROM "silver/events") WHERE ((c4 IN ('run')) AND (c5 IN ('run.started')))))))));

-- table organization/setup
-- columns "trace" VARCHAR, "guid" VARCHAR
SELECT c1 AS "trace", c19 AS "guid" FROM (SELECT c1, min(c2) AS c19 FROM 
(SELECT c1, c2 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT DISTINCT c1, c2 FROM 
(SELECT c1, split_part(c3, ':', 1) AS c2 FROM 
(SELECT c1 AS c1, c3 AS c3 FROM 
(SELECT c1, c4 AS c3 FROM 
(SELECT "trace" AS c1, "folder" AS c4 FROM "silver/events"))
UNION ALL SELECT c6 AS c1, c8 AS c3 FROM 
(SELECT c6, c8 FROM 
(SELECT c6, c7 AS c8 FROM 
(SELECT "trace" AS c6, "folder" AS c5, "object" AS c7 FROM "silver/events") WHERE (c5 = '1-1')))
UNION ALL SELECT c12 AS c1, c9 AS c3 FROM 
(SELECT c12, c9 FROM 
(SELECT c12, c9 FROM 
(SELECT * EXCLUDE (uc9), uc9 AS c9 FROM (SELECT *, unnest(list_from_json(c13, '"VARCHAR[]"')) AS uc9 FROM 
(SELECT "trace" AS c12, "type" AS c11, "folders" AS c13, "family" AS c10 FROM "silver/events") WHERE ((c10 IN ('replication')) AND (c11 IN ('status.due')))))))) WHERE ((c3 IS NOT NULL) AND (NOT (c3 = '1-1')))))) ANTI JOIN 
(SELECT * FROM 
(SELECT DISTINCT c14, c15 FROM 
(SELECT c14, c18 AS c15 FROM 
(SELECT c14, c18 FROM 
(SELECT "trace" AS c14, "type" AS c17, "replica_guid" AS c18, "family" AS c16 FROM "silver/events") WHERE ((c16 IN ('run')) AND (c17 IN ('node.started'))))))) ON ((c1 = c14) AND (c2 = c15)))) GROUP BY c1);

-- table organization/costs
-- columns "trace" VARCHAR, "revision" BIGINT, "node" VARCHAR, "store" VARCHAR, "cost" BIGINT, "affinity" BIGINT
SELECT c5 AS "trace", c8 AS "revision", c11 AS "node", c25 AS "store", c23 AS "cost", c24 AS "affinity" FROM (SELECT c5, c8, c11, c25, c23, c24 FROM 
(SELECT c5, c8, c11, c23, c24, c25 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c5, c8, c11, c22, c23, c24 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c5, c8, c1 AS c11, c10 AS c12 FROM 
(SELECT c5, c8, c1, (c2)."site" AS c10 FROM 
(SELECT c5, c8, c1, c2 FROM 
(SELECT * EXCLUDE (uc1), uc1.key AS c1, uc1.value AS c2 FROM (SELECT *, unnest(map_entries((c9)."servers")) AS uc1 FROM 
(SELECT c5, c8, struct_from_json(c6, '"STRUCT(\"servers\" MAP(VARCHAR, STRUCT(\"site\" VARCHAR, \"version\" VARCHAR, \"joins\" VARCHAR)))"') AS c9 FROM 
(SELECT c5, coalesce(c7, (0)::BIGINT) AS c8, c6 FROM 
(SELECT "trace" AS c5, "type" AS c4, "topology" AS c6, "revision" AS c7, "family" AS c3 FROM "silver/events") WHERE ((c3 IN ('run')) AND (c4 IN ('run.started', 'organization.changed'))))))))))) JOIN 
(SELECT * FROM 
(SELECT c16, c19, (c13)."home" AS c21, (c13)."there" AS c22, (c13)."cost" AS c23, (c13)."affinity" AS c24 FROM 
(SELECT c16, c19, c13 FROM 
(SELECT * EXCLUDE (uc13), uc13 AS c13 FROM (SELECT *, unnest((c20)."routes") AS uc13 FROM 
(SELECT c16, c19, struct_from_json(c17, '"STRUCT(\"routes\" STRUCT(\"home\" VARCHAR, \"there\" VARCHAR, \"cost\" BIGINT, \"affinity\" BIGINT)[])"') AS c20 FROM 
(SELECT c16, coalesce(c18, (0)::BIGINT) AS c19, c17 FROM 
(SELECT "trace" AS c16, "type" AS c15, "topology" AS c17, "revision" AS c18, "family" AS c14 FROM "silver/events") WHERE ((c14 IN ('run')) AND (c15 IN ('run.started', 'organization.changed')))))))))) ON (((c5 = c16) AND (c8 = c19)) AND (c12 = c21))))) JOIN 
(SELECT * FROM 
(SELECT c29, c32, c25, c34 AS c35 FROM 
(SELECT c29, c32, c25, (c26)."site" AS c34 FROM 
(SELECT c29, c32, c25, c26 FROM 
(SELECT * EXCLUDE (uc25), uc25.key AS c25, uc25.value AS c26 FROM (SELECT *, unnest(map_entries((c33)."servers")) AS uc25 FROM 
(SELECT c29, c32, struct_from_json(c30, '"STRUCT(\"servers\" MAP(VARCHAR, STRUCT(\"site\" VARCHAR, \"version\" VARCHAR, \"joins\" VARCHAR)))"') AS c33 FROM 
(SELECT c29, coalesce(c31, (0)::BIGINT) AS c32, c30 FROM 
(SELECT "trace" AS c29, "type" AS c28, "topology" AS c30, "revision" AS c31, "family" AS c27 FROM "silver/events") WHERE ((c27 IN ('run')) AND (c28 IN ('run.started', 'organization.changed'))))))))))) ON (((c5 = c29) AND (c8 = c32)) AND (c22 = c35)))));

-- table evidence/versions
-- columns "trace" VARCHAR, "store" VARCHAR, "folder" VARCHAR, "object" VARCHAR, "act" VARCHAR, "seq" BIGINT, "at" BIGINT, "kind" VARCHAR, "number" VARCHAR, "guid" VARCHAR, "counter" BIGINT, "pcl" MAP(VARCHAR, BIGINT), "rivals" VARCHAR[], "modified_at" BIGINT, "digest" VARCHAR, "deleted" BOOLEAN, "subject" VARCHAR, "supersedes" VARCHAR[], "replicas" VARCHAR[], "parent" VARCHAR, "way" VARCHAR, "undone" BOOLEAN, "dropped" BOOLEAN
SELECT c3 AS "trace", c20 AS "store", c10 AS "folder", c11 AS "object", c21 AS "act", c5 AS "seq", c6 AS "at", c8 AS "kind", c9 AS "number", c27 AS "guid", c28 AS "counter", c24 AS "pcl", c19 AS "rivals", c13 AS "modified_at", c16 AS "digest", c22 AS "deleted", c7 AS "subject", c14 AS "supersedes", c17 AS "replicas", c18 AS "parent", c23 AS "way", c229 AS "undone", c311 AS "dropped" FROM (SELECT c3, c20, c10, c11, c21, c5, c6, c8, c9, c27, c28, c24, c19, c13, c16, c22, c7, c14, c17, c18, c23, c229, c311 FROM 
(SELECT c3, c20, c10, c11, c21, c5, c6, c8, c9, c27, c28, c24, c19, c13, c16, c22, c7, c14, c17, c18, c23, c229, coalesce((c5 < c310), FALSE) AS c311 FROM 
(SELECT c3, c20, c10, c11, c21, c5, c6, c8, c9, c27, c28, c24, c19, c13, c16, c22, c7, c14, c17, c18, c23, c229, c310 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c3, c20, c10, c11, c21, c5, c6, c8, c9, c27, c28, c24, c19, c13, c16, c22, c7, c14, c17, c18, c23, c229 FROM 
(SELECT c3, c20, c10, c11, c21, c5, c6, c8, c9, c27, c28, c24, c19, c13, c16, c22, c7, c14, c17, c18, c23, coalesce(list_any(list_transform(c187, lambda v230: ((c5 > (v230)."after") AND (c5 < (v230)."before")))), FALSE) AS c229 FROM 
(SELECT c3, c20, c10, c11, c21, c5, c6, c8, c9, c27, c28, c24, c19, c13, c16, c22, c7, c14, c17, c18, c23, c187 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c3 AS c3, c10 AS c10, c11 AS c11, c20 AS c20, c21 AS c21, c5 AS c5, c6 AS c6, c8 AS c8, c9 AS c9, c27 AS c27, c28 AS c28, c24 AS c24, c19 AS c19, c13 AS c13, c16 AS c16, c22 AS c22, c7 AS c7, c14 AS c14, c17 AS c17, c18 AS c18, c23 AS c23 FROM 
(SELECT c3, c10, c11, c20, c21, c5, c6, c8, c9, c27, c28, c24, c19, c13, c16, c22, c7, c14, c17, c18, c23 FROM 
(SELECT c3, c5, c6, c10, c11, c9, c8, c13, c14, c24, c16, c7, c17, c18, c19, c20, c21, c22, c23, c27, text_to_bigint(split_part(c9, ':', -1)) AS c28 FROM 
(SELECT c3, c5, c6, c10, c11, c9, c8, c13, c14, c24, c16, c7, c17, c18, c19, c20, c21, c22, c23, split_part(c9, ':', 1) AS c27 FROM 
(SELECT c3, c5, c6, c10, c11, c9, c8, c13, c14, map_from_entries(list_transform(map_entries(text_to_map(c15, ';', ':')), lambda pv25: {'key': pv25.key, 'value': text_to_bigint(pv25.value)})) AS c24, c16, c7, c17, c18, c19, c20, c21, c22, c23 FROM 
(SELECT c3, c5, c6, c10, c11, c9, c8, c13, c14, c15, c16, c7, c17, c18, c19, c4 AS c20, 'made' AS c21, (c12 = 'delete') AS c22, CAST(NULL AS VARCHAR) AS c23 FROM 
(SELECT c3, c4, c5, c6, c10, c11, c9, c8, c12, c13, c14, c15, c16, c7, c17, c18, c19 FROM 
(SELECT "trace" AS c3, "node" AS c4, "type" AS c2, "seq" AS c5, "at" AS c6, "subject" AS c7, "kind" AS c8, "number" AS c9, "folder" AS c10, "object" AS c11, "operation" AS c12, "modified_at" AS c13, "supersedes" AS c14, "pcl" AS c15, "digest" AS c16, "replicas" AS c17, "parent" AS c18, "rivals" AS c19, "family" AS c1 FROM "silver/events") WHERE ((c1 IN ('change')) AND (c2 IN ('change.made')))))))))
UNION ALL SELECT c31 AS c3, c37 AS c10, c38 AS c11, c45 AS c20, c46 AS c21, c33 AS c5, c34 AS c6, c35 AS c8, c36 AS c9, c54 AS c27, c55 AS c28, c51 AS c24, c42 AS c19, c39 AS c13, c41 AS c16, c44 AS c22, c47 AS c7, c49 AS c14, c50 AS c17, c48 AS c18, c43 AS c23 FROM 
(SELECT c31, c37, c38, c45, c46, c33, c34, c35, c36, c54, c55, c51, c42, c39, c41, c44, c47, c49, c50, c48, c43 FROM 
(SELECT c31, c37, c38, c45, c46, c33, c34, c35, c36, c54, c55, c51, c42, c39, c41, c44, c47, c49, c50, c48, c43 FROM 
(SELECT c31, c33, c34, c37, c38, c36, c35, c51, c39, c43, c41, c44, c42, c45, c46, c47, c48, c49, c50, c54, text_to_bigint(split_part(c36, ':', -1)) AS c55 FROM 
(SELECT c31, c33, c34, c37, c38, c36, c35, c51, c39, c43, c41, c44, c42, c45, c46, c47, c48, c49, c50, split_part(c36, ':', 1) AS c54 FROM 
(SELECT c31, c33, c34, c37, c38, c36, c35, map_from_entries(list_transform(map_entries(text_to_map(c40, ';', ':')), lambda pv52: {'key': pv52.key, 'value': text_to_bigint(pv52.value)})) AS c51, c39, c43, c41, c44, c42, c45, c46, c47, c48, c49, c50 FROM 
(SELECT c31, c33, c34, c37, c38, c36, c35, c40, c39, c43, c41, c44, c42, c32 AS c45, 'applied' AS c46, CAST(NULL AS VARCHAR) AS c47, CAST(NULL AS VARCHAR) AS c48, CAST(NULL AS VARCHAR[]) AS c49, CAST(NULL AS VARCHAR[]) AS c50 FROM 
(SELECT c31, c32, c33, c34, c37, c38, c36, c35, c40, c39, c43, c41, c44, c42 FROM 
(SELECT "trace" AS c31, "node" AS c32, "type" AS c30, "seq" AS c33, "at" AS c34, "kind" AS c35, "number" AS c36, "folder" AS c37, "object" AS c38, "modified_at" AS c39, "pcl" AS c40, "digest" AS c41, "rivals" AS c42, "way" AS c43, "deleted" AS c44, "family" AS c29 FROM "silver/events") WHERE ((c29 IN ('change')) AND (c30 IN ('version.applied'))))))))))
UNION ALL SELECT c58 AS c3, c63 AS c10, c64 AS c11, c65 AS c20, c66 AS c21, c60 AS c5, c61 AS c6, c67 AS c8, c62 AS c9, c78 AS c27, c79 AS c28, c68 AS c24, c69 AS c19, c70 AS c13, c71 AS c16, c72 AS c22, c73 AS c7, c75 AS c14, c76 AS c17, c74 AS c18, c77 AS c23 FROM 
(SELECT c58, c63, c64, c65, c66, c60, c61, c67, c62, c78, c79, c68, c69, c70, c71, c72, c73, c75, c76, c74, c77 FROM 
(SELECT c58, c63, c64, c65, c66, c60, c61, c67, c62, c78, c79, c68, c69, c70, c71, c72, c73, c75, c76, c74, c77 FROM 
(SELECT c58, c60, c61, c63, c64, c62, c65, c66, c67, c68, c69, c70, c71, c72, c73, c74, c75, c76, c77, c78, text_to_bigint(split_part(c62, ':', -1)) AS c79 FROM 
(SELECT c58, c60, c61, c63, c64, c62, c65, c66, c67, c68, c69, c70, c71, c72, c73, c74, c75, c76, c77, split_part(c62, ':', 1) AS c78 FROM 
(SELECT c58, c60, c61, c63, c64, c62, c59 AS c65, 'tombstone dropped' AS c66, CAST(NULL AS VARCHAR) AS c67, CAST(NULL AS MAP(VARCHAR, BIGINT)) AS c68, CAST(NULL AS VARCHAR[]) AS c69, CAST(NULL AS BIGINT) AS c70, CAST(NULL AS VARCHAR) AS c71, TRUE AS c72, CAST(NULL AS VARCHAR) AS c73, CAST(NULL AS VARCHAR) AS c74, CAST(NULL AS VARCHAR[]) AS c75, CAST(NULL AS VARCHAR[]) AS c76, CAST(NULL AS VARCHAR) AS c77 FROM 
(SELECT c58, c59, c60, c61, c63, c64, c62 FROM 
(SELECT "trace" AS c58, "node" AS c59, "type" AS c57, "seq" AS c60, "at" AS c61, "number" AS c62, "folder" AS c63, "object" AS c64, "family" AS c56 FROM "silver/events") WHERE ((c56 IN ('change')) AND (c57 IN ('tombstone.dropped')))))))))
UNION ALL SELECT c80 AS c3, c97 AS c10, c98 AS c11, c99 AS c20, c100 AS c21, c101 AS c5, c102 AS c6, c103 AS c8, c104 AS c9, c88 AS c27, c105 AS c28, c106 AS c24, c107 AS c19, c108 AS c13, c109 AS c16, c110 AS c22, c111 AS c7, c112 AS c14, c85 AS c17, c113 AS c18, c114 AS c23 FROM 
(SELECT c80, c97, c98, c99, c100, c101, c102, c103, c104, c88, c105, c106, c107, c108, c109, c110, c111, c112, c85, c113, c114 FROM 
(SELECT c80 AS c80, c97 AS c97, c98 AS c98, c99 AS c99, c100 AS c100, c101 AS c101, c102 AS c102, c103 AS c103, c104 AS c104, c88 AS c88, c105 AS c105, c106 AS c106, c107 AS c107, c108 AS c108, c109 AS c109, c110 AS c110, c111 AS c111, c112 AS c112, c85 AS c85, c113 AS c113, c114 AS c114 FROM 
(SELECT c80, c97, c98, c99, c100, c101, c102, c103, c104, c88, c105, c106, c107, c108, c109, c110, c111, c112, c85, c113, c114 FROM 
(SELECT c80, '1-1' AS c97, concat_ws(':', c88, (c82)::VARCHAR) AS c98, 'Setup' AS c99, 'made' AS c100, (0)::BIGINT AS c101, c81 AS c102, 'folder' AS c103, concat_ws(':', c88, (c82)::VARCHAR) AS c104, c88, (c82)::BIGINT AS c105, MAP {c88: (c82)::BIGINT} AS c106, CAST(NULL AS VARCHAR[]) AS c107, c81 AS c108, '' AS c109, FALSE AS c110, c83 AS c111, CAST(NULL AS VARCHAR[]) AS c112, c85, coalesce(c96, '1-1') AS c113, CAST(NULL AS VARCHAR) AS c114 FROM 
(SELECT c80, c81, c82, c83, c85, c88, c96 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c80, c81, c82, c83, c84, c85, coalesce(c87, 'setup') AS c88 FROM 
(SELECT c80, c81, c82, c83, c84, c85, c87 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT "trace" AS c80, "start_at" AS c81, "n" AS c82, "name" AS c83, "parent_path" AS c84, "replicas" AS c85 FROM "organization/genesis")) LEFT JOIN 
(SELECT * FROM 
(SELECT "trace" AS c86, "guid" AS c87 FROM "organization/setup")) ON (c80 = c86))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c89, c91 AS c95, concat_ws(':', c94, (c90)::VARCHAR) AS c96 FROM 
(SELECT c89, c90, c91, coalesce(c93, 'setup') AS c94 FROM 
(SELECT c89, c90, c91, c93 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT "trace" AS c89, "n" AS c90, "path" AS c91 FROM "organization/genesis")) LEFT JOIN 
(SELECT * FROM 
(SELECT "trace" AS c92, "guid" AS c93 FROM "organization/setup")) ON (c89 = c92)))))) ON ((c80 = c89) AND (c84 = c95))))))
UNION ALL SELECT c115 AS c80, c132 AS c97, c133 AS c98, c150 AS c99, c151 AS c100, c134 AS c101, c135 AS c102, c136 AS c103, c137 AS c104, c123 AS c88, c138 AS c105, c139 AS c106, c140 AS c107, c141 AS c108, c142 AS c109, c143 AS c110, c144 AS c111, c145 AS c112, c120 AS c85, c146 AS c113, c147 AS c114 FROM 
(SELECT c115, c132, c133, c150, c151, c134, c135, c136, c137, c123, c138, c139, c140, c141, c142, c143, c144, c145, c120, c146, c147 FROM 
(SELECT c115, c132, c133, c150, c151, c134, c135, c136, c137, c123, c138, c139, c140, c141, c142, c143, c144, c145, c120, c146, c147 FROM 
(SELECT c115, c132, c133, c134, c135, c136, c137, c123, c138, c139, c140, c141, c142, c143, c144, c145, c120, c146, c147, c150, 'applied' AS c151 FROM 
(SELECT c115, c132, c133, c134, c135, c136, c137, c123, c138, c139, c140, c141, c142, c143, c144, c145, c120, c146, c147, c150 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c115, c132, c133, c134, c135, c136, c137, c123, c138, c139, c140, c141, c142, c143, c144, c145, c120, c146, c147 FROM 
(SELECT c115, '1-1' AS c132, concat_ws(':', c123, (c117)::VARCHAR) AS c133, (0)::BIGINT AS c134, c116 AS c135, 'folder' AS c136, concat_ws(':', c123, (c117)::VARCHAR) AS c137, c123, (c117)::BIGINT AS c138, MAP {c123: (c117)::BIGINT} AS c139, CAST(NULL AS VARCHAR[]) AS c140, c116 AS c141, '' AS c142, FALSE AS c143, c118 AS c144, CAST(NULL AS VARCHAR[]) AS c145, c120, coalesce(c131, '1-1') AS c146, CAST(NULL AS VARCHAR) AS c147 FROM 
(SELECT c115, c116, c117, c118, c120, c123, c131 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c115, c116, c117, c118, c119, c120, coalesce(c122, 'setup') AS c123 FROM 
(SELECT c115, c116, c117, c118, c119, c120, c122 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT "trace" AS c115, "start_at" AS c116, "n" AS c117, "name" AS c118, "parent_path" AS c119, "replicas" AS c120 FROM "organization/genesis")) LEFT JOIN 
(SELECT * FROM 
(SELECT "trace" AS c121, "guid" AS c122 FROM "organization/setup")) ON (c115 = c121))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c124, c126 AS c130, concat_ws(':', c129, (c125)::VARCHAR) AS c131 FROM 
(SELECT c124, c125, c126, coalesce(c128, 'setup') AS c129 FROM 
(SELECT c124, c125, c126, c128 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT "trace" AS c124, "n" AS c125, "path" AS c126 FROM "organization/genesis")) LEFT JOIN 
(SELECT * FROM 
(SELECT "trace" AS c127, "guid" AS c128 FROM "organization/setup")) ON (c124 = c127)))))) ON ((c115 = c124) AND (c119 = c130))))))) JOIN 
(SELECT * FROM 
(SELECT c149, c150 FROM 
(SELECT "trace" AS c149, "store" AS c150, "later" AS c148 FROM "organization/servers") WHERE (NOT c148))) ON (c115 = c149)))))))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c156 AS c156, c158 AS c158, c187 AS c187 FROM 
(SELECT c156, c158, c187 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c156, c158, list_reduce(list_reverse(list_transform(lists_zipped(c159, c185), lambda pv190: {'after': CASE WHEN ((pv190[1])."reason" = 'restored') THEN (pv190[2])."through" ELSE ((-1))::BIGINT END, 'before': (pv190[1])."seq"})), lambda v188, v189: CASE WHEN list_any(list_transform(v188, lambda v192: (((v189)."before" > (v192)."after") AND ((v189)."before" < (v192)."before")))) THEN v188 ELSE (v188 || [{'after': (v189)."after", 'before': (v189)."before"}]) END, CAST(CAST([] AS STRUCT("after" BIGINT, "before" BIGINT)[]) AS STRUCT("after" BIGINT, "before" BIGINT)[])) AS c187 FROM 
(SELECT c156, c158, c159, c185 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c156, c157 AS c158, list_transform(list_sort(list_transform(coalesce(list({'seq': c153, 'reason': c152}), []), lambda v160: {k: CASE WHEN v160 IS NOT NULL THEN {n0: (v160)."seq" IS NOT NULL, v0: (v160)."seq", n1: (v160)."reason" IS NOT NULL, v1: (v160)."reason"} END, v: v160}), 'ASC', 'NULLS LAST'), lambda v160: v160.v) AS c159 FROM 
(SELECT c156, c157, c153, c152 FROM 
(SELECT "trace" AS c156, "node" AS c157, "type" AS c155, "seq" AS c153, "reason" AS c152, "family" AS c154 FROM "silver/events") WHERE ((c154 IN ('run')) AND (c155 IN ('node.started')))) WHERE ((NOT (c152 = 'restart')) AND (c153 > (1)::BIGINT)) GROUP BY c156, c157)) JOIN 
(SELECT * FROM 
(SELECT c163, c165, list_transform(list_sort(list_transform(coalesce(list({'seq': c164, 'through': c172}), []), lambda v186: {k: CASE WHEN v186 IS NOT NULL THEN {n0: (v186)."seq" IS NOT NULL, v0: (v186)."seq", n1: (v186)."through" IS NOT NULL, v1: (v186)."through"} END, v: v186}), 'ASC', 'NULLS LAST'), lambda v186: v186.v) AS c185 FROM 
(SELECT c163 AS c163, c165 AS c165, c164 AS c164, c172 AS c172 FROM 
(SELECT c163, c165, c164, c172 FROM 
(SELECT c163, c165, c164, c172 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c163, c165, c166, c164 FROM 
(SELECT c163, c164, c165, c166 FROM 
(SELECT "trace" AS c163, "type" AS c162, "seq" AS c164, "store" AS c165, "backup" AS c166, "family" AS c161 FROM "silver/events") WHERE ((c161 IN ('run')) AND (c162 IN ('backup.restored')))))) JOIN 
(SELECT * FROM 
(SELECT c169, c170, c171, c172 FROM 
(SELECT c169, c170, c171, c172 FROM 
(SELECT "trace" AS c169, "type" AS c168, "store" AS c170, "backup" AS c171, "through" AS c172, "family" AS c167 FROM "silver/events") WHERE ((c167 IN ('run')) AND (c168 IN ('backup.made')))))) ON (((c163 = c169) AND (c165 = c170)) AND (c166 = c171)))))
UNION ALL SELECT c175 AS c163, c177 AS c165, c176 AS c164, c178 AS c172 FROM 
(SELECT c175, c177, c176, c178 FROM 
(SELECT c175, c177, c176, ((-1))::BIGINT AS c178 FROM 
(SELECT c175, c176, c177 FROM 
(SELECT "trace" AS c175, "type" AS c174, "seq" AS c176, "store" AS c177, "family" AS c173 FROM "silver/events") WHERE ((c173 IN ('run')) AND (c174 IN ('store.created'))))))
UNION ALL SELECT c181 AS c163, c183 AS c165, c182 AS c164, c184 AS c172 FROM 
(SELECT c181, c183, c182, c184 FROM 
(SELECT c181, c183, c182, ((-1))::BIGINT AS c184 FROM 
(SELECT c181, c182, c183 FROM 
(SELECT "trace" AS c181, "type" AS c180, "seq" AS c182, "store" AS c183, "family" AS c179 FROM "silver/events") WHERE ((c179 IN ('run')) AND (c180 IN ('backup.elsewhere'))))))) GROUP BY c163, c165)) ON ((c156 = c163) AND (c158 = c165)))))) ANTI JOIN 
(SELECT * FROM 
(SELECT c198, c199 FROM 
(SELECT c198, c199, c194, c195 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c198, c199, max(coalesce(c200, (0)::BIGINT)) AS c194 FROM 
(SELECT c198 AS c198, c199 AS c199, c200 AS c200 FROM 
(SELECT c198, c199, c200 FROM 
(SELECT c198, c199, c200 FROM 
(SELECT "trace" AS c198, "type" AS c197, "store" AS c199, "directory_object" AS c200, "family" AS c196 FROM "silver/events") WHERE ((c196 IN ('replication')) AND (c197 IN ('store.deleted')))))
UNION ALL SELECT c203 AS c198, c204 AS c199, c205 AS c200 FROM 
(SELECT c203, c204, c205 FROM 
(SELECT c203, c204, c205 FROM 
(SELECT c203, c204, c205 FROM 
(SELECT "trace" AS c203, "type" AS c202, "store" AS c204, "directory_object" AS c205, "family" AS c201 FROM "silver/events") WHERE ((c201 IN ('run')) AND (c202 IN ('backup.elsewhere'))))))) GROUP BY c198, c199)) LEFT JOIN 
(SELECT * FROM 
(SELECT c208, c209, max(c210) AS c195 FROM 
(SELECT c208, c209, c210 FROM 
(SELECT "trace" AS c208, "type" AS c207, "store" AS c209, "directory_object" AS c210, "family" AS c206 FROM "silver/events") WHERE ((c206 IN ('run')) AND (c207 IN ('store.created')))) GROUP BY c208, c209)) ON ((c198 = c208) AND (c199 = c209)))) WHERE (c194 >= coalesce(c195, (0)::BIGINT)))) ON ((c156 = c198) AND (c158 = c199))))
UNION ALL SELECT c215 AS c156, c216 AS c158, c228 AS c187 FROM 
(SELECT c215, c216, c228 FROM 
(SELECT c215, c216, [{'after': ((-1))::BIGINT, 'before': 4611686018427387904::BIGINT}] AS c228 FROM 
(SELECT c215, c216 FROM 
(SELECT c215, c216, c211, c212 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c215, c216, max(coalesce(c217, (0)::BIGINT)) AS c211 FROM 
(SELECT c215 AS c215, c216 AS c216, c217 AS c217 FROM 
(SELECT c215, c216, c217 FROM 
(SELECT c215, c216, c217 FROM 
(SELECT "trace" AS c215, "type" AS c214, "store" AS c216, "directory_object" AS c217, "family" AS c213 FROM "silver/events") WHERE ((c213 IN ('replication')) AND (c214 IN ('store.deleted')))))
UNION ALL SELECT c220 AS c215, c221 AS c216, c222 AS c217 FROM 
(SELECT c220, c221, c222 FROM 
(SELECT c220, c221, c222 FROM 
(SELECT c220, c221, c222 FROM 
(SELECT "trace" AS c220, "type" AS c219, "store" AS c221, "directory_object" AS c222, "family" AS c218 FROM "silver/events") WHERE ((c218 IN ('run')) AND (c219 IN ('backup.elsewhere'))))))) GROUP BY c215, c216)) LEFT JOIN 
(SELECT * FROM 
(SELECT c225, c226, max(c227) AS c212 FROM 
(SELECT c225, c226, c227 FROM 
(SELECT "trace" AS c225, "type" AS c224, "store" AS c226, "directory_object" AS c227, "family" AS c223 FROM "silver/events") WHERE ((c223 IN ('run')) AND (c224 IN ('store.created')))) GROUP BY c225, c226)) ON ((c215 = c225) AND (c216 = c226)))) WHERE (c211 >= coalesce(c212, (0)::BIGINT))))))) ON ((c3 = c156) AND (c20 = c158))))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c236, c239, c238, max(c233) AS c310 FROM 
(SELECT c236, c239, c238, c233, c232 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c236, c237 AS c239, c238, c233 FROM 
(SELECT c236, c237, c233, c238 FROM 
(SELECT "trace" AS c236, "node" AS c237, "type" AS c235, "seq" AS c233, "folder" AS c238, "family" AS c234 FROM "silver/events") WHERE ((c234 IN ('replication')) AND (c235 IN ('replica.dropped')))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c244 AS c244, c246 AS c246, c232 AS c232 FROM 
(SELECT c244, c246, c232 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c244, c246, list_reduce(list_reverse(list_transform(lists_zipped(c247, c273), lambda pv190: {'after': CASE WHEN ((pv190[1])."reason" = 'restored') THEN (pv190[2])."through" ELSE ((-1))::BIGINT END, 'before': (pv190[1])."seq"})), lambda v188, v189: CASE WHEN list_any(list_transform(v188, lambda v192: (((v189)."before" > (v192)."after") AND ((v189)."before" < (v192)."before")))) THEN v188 ELSE (v188 || [{'after': (v189)."after", 'before': (v189)."before"}]) END, CAST(CAST([] AS STRUCT("after" BIGINT, "before" BIGINT)[]) AS STRUCT("after" BIGINT, "before" BIGINT)[])) AS c232 FROM 
(SELECT c244, c246, c247, c273 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c244, c245 AS c246, list_transform(list_sort(list_transform(coalesce(list({'seq': c241, 'reason': c240}), []), lambda v248: {k: CASE WHEN v248 IS NOT NULL THEN {n0: (v248)."seq" IS NOT NULL, v0: (v248)."seq", n1: (v248)."reason" IS NOT NULL, v1: (v248)."reason"} END, v: v248}), 'ASC', 'NULLS LAST'), lambda v248: v248.v) AS c247 FROM 
(SELECT c244, c245, c241, c240 FROM 
(SELECT "trace" AS c244, "node" AS c245, "type" AS c243, "seq" AS c241, "reason" AS c240, "family" AS c242 FROM "silver/events") WHERE ((c242 IN ('run')) AND (c243 IN ('node.started')))) WHERE ((NOT (c240 = 'restart')) AND (c241 > (1)::BIGINT)) GROUP BY c244, c245)) JOIN 
(SELECT * FROM 
(SELECT c251, c253, list_transform(list_sort(list_transform(coalesce(list({'seq': c252, 'through': c260}), []), lambda v274: {k: CASE WHEN v274 IS NOT NULL THEN {n0: (v274)."seq" IS NOT NULL, v0: (v274)."seq", n1: (v274)."through" IS NOT NULL, v1: (v274)."through"} END, v: v274}), 'ASC', 'NULLS LAST'), lambda v274: v274.v) AS c273 FROM 
(SELECT c251 AS c251, c253 AS c253, c252 AS c252, c260 AS c260 FROM 
(SELECT c251, c253, c252, c260 FROM 
(SELECT c251, c253, c252, c260 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c251, c253, c254, c252 FROM 
(SELECT c251, c252, c253, c254 FROM 
(SELECT "trace" AS c251, "type" AS c250, "seq" AS c252, "store" AS c253, "backup" AS c254, "family" AS c249 FROM "silver/events") WHERE ((c249 IN ('run')) AND (c250 IN ('backup.restored')))))) JOIN 
(SELECT * FROM 
(SELECT c257, c258, c259, c260 FROM 
(SELECT c257, c258, c259, c260 FROM 
(SELECT "trace" AS c257, "type" AS c256, "store" AS c258, "backup" AS c259, "through" AS c260, "family" AS c255 FROM "silver/events") WHERE ((c255 IN ('run')) AND (c256 IN ('backup.made')))))) ON (((c251 = c257) AND (c253 = c258)) AND (c254 = c259)))))
UNION ALL SELECT c263 AS c251, c265 AS c253, c264 AS c252, c266 AS c260 FROM 
(SELECT c263, c265, c264, c266 FROM 
(SELECT c263, c265, c264, ((-1))::BIGINT AS c266 FROM 
(SELECT c263, c264, c265 FROM 
(SELECT "trace" AS c263, "type" AS c262, "seq" AS c264, "store" AS c265, "family" AS c261 FROM "silver/events") WHERE ((c261 IN ('run')) AND (c262 IN ('store.created'))))))
UNION ALL SELECT c269 AS c251, c271 AS c253, c270 AS c252, c272 AS c260 FROM 
(SELECT c269, c271, c270, c272 FROM 
(SELECT c269, c271, c270, ((-1))::BIGINT AS c272 FROM 
(SELECT c269, c270, c271 FROM 
(SELECT "trace" AS c269, "type" AS c268, "seq" AS c270, "store" AS c271, "family" AS c267 FROM "silver/events") WHERE ((c267 IN ('run')) AND (c268 IN ('backup.elsewhere'))))))) GROUP BY c251, c253)) ON ((c244 = c251) AND (c246 = c253)))))) ANTI JOIN 
(SELECT * FROM 
(SELECT c279, c280 FROM 
(SELECT c279, c280, c275, c276 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c279, c280, max(coalesce(c281, (0)::BIGINT)) AS c275 FROM 
(SELECT c279 AS c279, c280 AS c280, c281 AS c281 FROM 
(SELECT c279, c280, c281 FROM 
(SELECT c279, c280, c281 FROM 
(SELECT "trace" AS c279, "type" AS c278, "store" AS c280, "directory_object" AS c281, "family" AS c277 FROM "silver/events") WHERE ((c277 IN ('replication')) AND (c278 IN ('store.deleted')))))
UNION ALL SELECT c284 AS c279, c285 AS c280, c286 AS c281 FROM 
(SELECT c284, c285, c286 FROM 
(SELECT c284, c285, c286 FROM 
(SELECT c284, c285, c286 FROM 
(SELECT "trace" AS c284, "type" AS c283, "store" AS c285, "directory_object" AS c286, "family" AS c282 FROM "silver/events") WHERE ((c282 IN ('run')) AND (c283 IN ('backup.elsewhere'))))))) GROUP BY c279, c280)) LEFT JOIN 
(SELECT * FROM 
(SELECT c289, c290, max(c291) AS c276 FROM 
(SELECT c289, c290, c291 FROM 
(SELECT "trace" AS c289, "type" AS c288, "store" AS c290, "directory_object" AS c291, "family" AS c287 FROM "silver/events") WHERE ((c287 IN ('run')) AND (c288 IN ('store.created')))) GROUP BY c289, c290)) ON ((c279 = c289) AND (c280 = c290)))) WHERE (c275 >= coalesce(c276, (0)::BIGINT)))) ON ((c244 = c279) AND (c246 = c280))))
UNION ALL SELECT c296 AS c244, c297 AS c246, c309 AS c232 FROM 
(SELECT c296, c297, c309 FROM 
(SELECT c296, c297, [{'after': ((-1))::BIGINT, 'before': 4611686018427387904::BIGINT}] AS c309 FROM 
(SELECT c296, c297 FROM 
(SELECT c296, c297, c292, c293 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c296, c297, max(coalesce(c298, (0)::BIGINT)) AS c292 FROM 
(SELECT c296 AS c296, c297 AS c297, c298 AS c298 FROM 
(SELECT c296, c297, c298 FROM 
(SELECT c296, c297, c298 FROM 
(SELECT "trace" AS c296, "type" AS c295, "store" AS c297, "directory_object" AS c298, "family" AS c294 FROM "silver/events") WHERE ((c294 IN ('replication')) AND (c295 IN ('store.deleted')))))
UNION ALL SELECT c301 AS c296, c302 AS c297, c303 AS c298 FROM 
(SELECT c301, c302, c303 FROM 
(SELECT c301, c302, c303 FROM 
(SELECT c301, c302, c303 FROM 
(SELECT "trace" AS c301, "type" AS c300, "store" AS c302, "directory_object" AS c303, "family" AS c299 FROM "silver/events") WHERE ((c299 IN ('run')) AND (c300 IN ('backup.elsewhere'))))))) GROUP BY c296, c297)) LEFT JOIN 
(SELECT * FROM 
(SELECT c306, c307, max(c308) AS c293 FROM 
(SELECT c306, c307, c308 FROM 
(SELECT "trace" AS c306, "type" AS c305, "store" AS c307, "directory_object" AS c308, "family" AS c304 FROM "silver/events") WHERE ((c304 IN ('run')) AND (c305 IN ('store.created')))) GROUP BY c306, c307)) ON ((c296 = c306) AND (c297 = c307)))) WHERE (c292 >= coalesce(c293, (0)::BIGINT))))))) ON ((c236 = c244) AND (c239 = c246)))) WHERE (NOT coalesce(list_any(list_transform(c232, lambda v231: ((c233 > (v231)."after") AND (c233 < (v231)."before")))), FALSE)) GROUP BY c236, c239, c238)) ON (((c3 = c236) AND (c20 = c239)) AND (c10 = c238))))));

-- table evidence/objects
-- columns "trace" VARCHAR, "folder" VARCHAR, "object" VARCHAR, "kind" VARCHAR, "subject" VARCHAR, "made" VARCHAR[], "alone" BOOLEAN, "tombstone" VARCHAR, "versions" STRUCT("number" VARCHAR, "guid" VARCHAR, "counter" BIGINT, "digest" VARCHAR)[], "lost" VARCHAR[], "gone" VARCHAR[], "forgotten" BOOLEAN, "states" STRUCT("store" VARCHAR, "versions" STRUCT("number" VARCHAR, "guid" VARCHAR, "counter" BIGINT, "digest" VARCHAR)[], "has_tombstone" BOOLEAN, "had_tombstone" BOOLEAN)[], "rows" STRUCT("store" VARCHAR, "act" VARCHAR, "seq" BIGINT, "at" BIGINT, "kind" VARCHAR, "number" VARCHAR, "guid" VARCHAR, "counter" BIGINT, "pcl" MAP(VARCHAR, BIGINT), "rivals" VARCHAR[], "supersedes" VARCHAR[], "modified_at" BIGINT, "digest" VARCHAR, "deleted" BOOLEAN, "undone" BOOLEAN, "dropped" BOOLEAN)[], "expiries" STRUCT("store" VARCHAR, "seq" BIGINT, "at" BIGINT, "number" VARCHAR, "undone" BOOLEAN, "forgotten_at" BIGINT)[]
SELECT c1 AS "trace", c3 AS "folder", c4 AS "object", c22 AS "kind", c23 AS "subject", c270 AS "made", c213 AS "alone", c230 AS "tombstone", c233 AS "versions", c220 AS "lost", c240 AS "gone", c247 AS "forgotten", c262 AS "states", c21 AS "rows", c212 AS "expiries" FROM (SELECT c1, c3, c4, c22, c23, list_transform(c214, lambda v271: (v271)."number") AS c270, c213, c230, c233, c220, c240, c247, c262, c21, c212 FROM 
(SELECT c1, c3, c4, c21, c22, c23, c212, c213, c214, c220, c230, c233, c240, c247, list_transform(c259, lambda v263: {'store': (v263)."store", 'versions': CASE WHEN c213 THEN CASE WHEN (coalesce(len((v263)."kept")::INTEGER, -1) < 2) THEN list_transform((v263)."kept", lambda v264: {'number': (v264)."number", 'guid': (v264)."guid", 'counter': (v264)."counter", 'digest': (v264)."digest"}) ELSE [(list_extract(list_transform(list_sort(list_transform(list_known(list_transform((v263)."kept", lambda v265: {'place': (v265)."seq", 'row': {'number': (v265)."number", 'guid': (v265)."guid", 'counter': (v265)."counter", 'digest': (v265)."digest"}})), lambda v266: {k: CASE WHEN v266 IS NOT NULL THEN {n0: (v266)."place" IS NOT NULL, v0: (v266)."place", n1: (v266)."row" IS NOT NULL, v1: CASE WHEN (v266)."row" IS NOT NULL THEN {n0: ((v266)."row")."number" IS NOT NULL, v0: ((v266)."row")."number", n1: ((v266)."row")."guid" IS NOT NULL, v1: ((v266)."row")."guid", n2: ((v266)."row")."counter" IS NOT NULL, v2: ((v266)."row")."counter", n3: ((v266)."row")."digest" IS NOT NULL, v3: ((v266)."row")."digest"} END} END, v: v266}), 'ASC', 'NULLS LAST'), lambda v266: v266.v), -1))."row"] END ELSE list_transform(CASE WHEN (coalesce(len((v263)."kept")::INTEGER, -1) < 2) THEN (v263)."kept" ELSE list_filter((v263)."kept", lambda v268: (NOT list_any(list_transform((v263)."kept", lambda v269: ((NOT ((v269)."number" = (v268)."number")) AND (coalesce((map_extract_value((v269)."pcl", (v268)."guid") >= (v268)."counter"), FALSE) AND (NOT list_contains_or_null(coalesce((v269)."rivals", CAST([] AS VARCHAR[])), (v268)."number")))))))) END, lambda v267: {'number': (v267)."number", 'guid': (v267)."guid", 'counter': (v267)."counter", 'digest': (v267)."digest"}) END, 'has_tombstone': (v263)."has_tombstone", 'had_tombstone': (v263)."had_tombstone"}) AS c262 FROM 
(SELECT c1, c3, c4, c21, c22, c23, c212, c213, c214, c220, c230, c233, c240, c247, list_transform(c254, lambda v260: {'store': (v260)."store", 'has_tombstone': ((v260)."deleted" > (v260)."dropped_at"), 'had_tombstone': ((v260)."deleted" >= (0)::BIGINT), 'kept': list_filter((v260)."mine", lambda v261: (((NOT (v261)."deleted") AND ((v261)."seq" > (v260)."dropped_at")) AND ((v260)."deleted" <= (v260)."dropped_at")))}) AS c259 FROM 
(SELECT c1, c3, c4, c21, c22, c23, c212, c213, c214, c220, c230, c233, c240, c247, list_transform(c249, lambda v255: {'store': (v255)."store", 'mine': (v255)."mine", 'dropped_at': coalesce(list_max(list_transform((v255)."dropped_seqs", lambda v256: (v256)."seq")), ((-1))::BIGINT), 'deleted': coalesce(list_max(list_transform(list_filter((v255)."mine", lambda v258: (v258)."deleted"), lambda v257: (v257)."seq")), ((-2))::BIGINT)}) AS c254 FROM 
(SELECT c1, c3, c4, c21, c22, c23, c212, c213, c214, c220, c230, c233, c240, c247, list_transform(list_unique(list_transform(c218, lambda v251: (v251)."store")), lambda v250: {'store': v250, 'mine': list_filter(c218, lambda v252: ((v252)."store" = v250)), 'dropped_seqs': list_filter(c21, lambda v253: ((((v253)."store" = v250) AND ((v253)."act" = 'tombstone dropped')) AND (NOT (v253)."undone")))}) AS c249 FROM 
(SELECT c1, c3, c4, c21, c22, c23, c212, c213, c214, c218, c220, c230, c233, c240, list_any(list_transform(c21, lambda v248: ((v248)."act" = 'tombstone dropped'))) AS c247 FROM 
(SELECT c1, c3, c4, c21, c22, c23, c212, c213, c214, c218, c220, c230, c233, list_transform(list_filter(c233, lambda v242: (list_any(list_transform(c212, lambda v243: (((v243)."number" = (v242)."number") AND ((v243)."forgotten_at" <= 9223372036854775807::BIGINT)))) OR (list_any(list_transform(c212, lambda v244: (((v244)."number" = (v242)."number") AND ((v244)."at" <= 9223372036854775807::BIGINT)))) AND (NOT list_any(list_transform(c21, lambda v245: (((((v245)."number" = (v242)."number") AND ((v245)."act" IN ('made', 'applied'))) AND ((v245)."at" <= 9223372036854775807::BIGINT)) AND (((NOT (v245)."undone") AND (NOT (v245)."dropped")) AND (NOT list_any(list_transform(c212, lambda v246: (((((v246)."store" = (v245)."store") AND ((v246)."number" = (v245)."number")) AND ((v246)."seq" > (v245)."seq")) AND (((v246)."at" <= 9223372036854775807::BIGINT) AND (NOT (v246)."undone")))))))))))))), lambda v241: (v241)."number") AS c240 FROM 
(SELECT c1, c3, c4, c21, c22, c23, c212, c213, c214, c218, c220, c230, CASE WHEN (coalesce(len(c228)::INTEGER, -1) > 0) THEN CAST([] AS STRUCT("number" VARCHAR, "guid" VARCHAR, "counter" BIGINT, "digest" VARCHAR)[]) WHEN c213 THEN CASE WHEN (coalesce(len(c226)::INTEGER, -1) < 2) THEN list_transform(c226, lambda v234: {'number': (v234)."number", 'guid': (v234)."guid", 'counter': (v234)."counter", 'digest': (v234)."digest"}) ELSE [(list_extract(list_transform(list_sort(list_transform(list_known(list_transform(c226, lambda v235: {'place': {'modified_at': (v235)."modified_at", 'guid': (v235)."guid", 'counter': (v235)."counter"}, 'row': {'number': (v235)."number", 'guid': (v235)."guid", 'counter': (v235)."counter", 'digest': (v235)."digest"}})), lambda v236: {k: CASE WHEN v236 IS NOT NULL THEN {n0: (v236)."place" IS NOT NULL, v0: CASE WHEN (v236)."place" IS NOT NULL THEN {n0: ((v236)."place")."modified_at" IS NOT NULL, v0: ((v236)."place")."modified_at", n1: ((v236)."place")."guid" IS NOT NULL, v1: ((v236)."place")."guid", n2: ((v236)."place")."counter" IS NOT NULL, v2: ((v236)."place")."counter"} END, n1: (v236)."row" IS NOT NULL, v1: CASE WHEN (v236)."row" IS NOT NULL THEN {n0: ((v236)."row")."number" IS NOT NULL, v0: ((v236)."row")."number", n1: ((v236)."row")."guid" IS NOT NULL, v1: ((v236)."row")."guid", n2: ((v236)."row")."counter" IS NOT NULL, v2: ((v236)."row")."counter", n3: ((v236)."row")."digest" IS NOT NULL, v3: ((v236)."row")."digest"} END} END, v: v236}), 'ASC', 'NULLS LAST'), lambda v236: v236.v), -1))."row"] END ELSE list_transform(CASE WHEN (coalesce(len(c226)::INTEGER, -1) < 2) THEN c226 ELSE list_filter(c226, lambda v238: (NOT list_any(list_transform(c226, lambda v239: ((NOT ((v239)."number" = (v238)."number")) AND (coalesce((map_extract_value((v239)."pcl", (v238)."guid") >= (v238)."counter"), FALSE) AND (NOT list_contains_or_null(coalesce((v239)."rivals", CAST([] AS VARCHAR[])), (v238)."number")))))))) END, lambda v237: {'number': (v237)."number", 'guid': (v237)."guid", 'counter': (v237)."counter", 'digest': (v237)."digest"}) END AS c233 FROM 
(SELECT c1, c3, c4, c21, c22, c23, c212, c213, c214, c218, c220, c226, c228, (list_extract(list_transform(list_sort(list_transform(list_known(list_transform(c228, lambda v231: {'place': {'modified_at': (v231)."modified_at", 'guid': (v231)."guid", 'counter': (v231)."counter"}, 'number': (v231)."number"})), lambda v232: {k: CASE WHEN v232 IS NOT NULL THEN {n0: (v232)."place" IS NOT NULL, v0: CASE WHEN (v232)."place" IS NOT NULL THEN {n0: ((v232)."place")."modified_at" IS NOT NULL, v0: ((v232)."place")."modified_at", n1: ((v232)."place")."guid" IS NOT NULL, v1: ((v232)."place")."guid", n2: ((v232)."place")."counter" IS NOT NULL, v2: ((v232)."place")."counter"} END, n1: (v232)."number" IS NOT NULL, v1: (v232)."number"} END, v: v232}), 'ASC', 'NULLS LAST'), lambda v232: v232.v), 1))."number" AS c230 FROM 
(SELECT c1, c3, c4, c21, c22, c23, c212, c213, c214, c218, c220, c226, list_filter(c226, lambda v229: (v229)."deleted") AS c228 FROM 
(SELECT c1, c3, c4, c21, c22, c23, c212, c213, c214, c218, c220, list_filter(c214, lambda v227: (NOT list_contains_or_null(c220, (v227)."number"))) AS c226 FROM 
(SELECT c1, c3, c4, c21, c22, c23, c212, c213, c214, c218, CASE WHEN (coalesce(len(c216)::INTEGER, -1) = 0) THEN CAST([] AS VARCHAR[]) ELSE list_transform(list_filter(c214, lambda v222: (list_any(list_transform(c216, lambda v223: ((((v223)."number" = (v222)."number") OR (v223)."deleted") OR (coalesce((map_extract_value((v223)."pcl", (v222)."guid") >= (v222)."counter"), FALSE) AND (NOT list_contains_or_null(coalesce((v223)."rivals", CAST([] AS VARCHAR[])), (v222)."number")))))) AND (NOT list_any(list_transform(list_filter(c218, lambda v225: (NOT ((v225)."store" = 'Setup'))), lambda v224: ((((v224)."number" = (v222)."number") OR (v224)."deleted") OR (coalesce((map_extract_value((v224)."pcl", (v222)."guid") >= (v222)."counter"), FALSE) AND (NOT list_contains_or_null(coalesce((v224)."rivals", CAST([] AS VARCHAR[])), (v222)."number"))))))))), lambda v221: (v221)."number") END AS c220 FROM 
(SELECT c1, c3, c4, c21, c22, c23, c212, c213, c214, c216, list_filter(c21, lambda v219: (((NOT (v219)."undone") AND (NOT (v219)."dropped")) AND (NOT ((v219)."act" = 'tombstone dropped')))) AS c218 FROM 
(SELECT c1, c3, c4, c21, c22, c23, c212, c213, c214, list_filter(c21, lambda v217: ((v217)."undone" AND (NOT ((v217)."act" = 'tombstone dropped')))) AS c216 FROM 
(SELECT c1, c3, c4, c21, c22, c23, c212, c213, list_filter(c21, lambda v215: ((v215)."act" = 'made')) AS c214 FROM 
(SELECT c1, c3, c4, c21, c22, c23, c212, ((c3 = '1-1') OR (c22 = 'fai')) AS c213 FROM 
(SELECT c1, c3, c4, c21, c22, c23, coalesce(c211, CAST([] AS STRUCT("store" VARCHAR, "seq" BIGINT, "at" BIGINT, "number" VARCHAR, "undone" BOOLEAN, "forgotten_at" BIGINT)[])) AS c212 FROM 
(SELECT c1, c3, c4, c21, c22, c23, c211 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c1, c3, c4, coalesce(list({'store': c2, 'act': c5, 'seq': c6, 'at': c7, 'kind': c8, 'number': c9, 'guid': c10, 'counter': c11, 'pcl': c12, 'rivals': c13, 'supersedes': c18, 'modified_at': c14, 'digest': c15, 'deleted': c16, 'undone': c19, 'dropped': c20}), []) AS c21, min(c8) AS c22, arg_max_null(c17, CASE WHEN (NOT (c17 = '')) THEN {n0: c14 IS NOT NULL, v0: c14, n1: c11 IS NOT NULL, v1: c11} END) AS c23 FROM 
(SELECT "trace" AS c1, "store" AS c2, "folder" AS c3, "object" AS c4, "act" AS c5, "seq" AS c6, "at" AS c7, "kind" AS c8, "number" AS c9, "guid" AS c10, "counter" AS c11, "pcl" AS c12, "rivals" AS c13, "modified_at" AS c14, "digest" AS c15, "deleted" AS c16, "subject" AS c17, "supersedes" AS c18, "undone" AS c19, "dropped" AS c20 FROM "evidence/versions") GROUP BY c1, c3, c4)) LEFT JOIN 
(SELECT * FROM 
(SELECT c26, c31, c32, coalesce(list({'store': c34, 'seq': c28, 'at': c29, 'number': c30, 'undone': c130, 'forgotten_at': c52}), []) AS c211 FROM 
(SELECT c26, c34, c31, c32, c28, c29, c30, c52, c130 FROM 
(SELECT c26, c34, c31, c32, c28, c29, c30, c52, c130 FROM 
(SELECT c26, c34, c31, c32, c28, c29, c30, c52, c130 FROM 
(SELECT c26, c34, c31, c32, c28, c29, c30, c52, c130 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c26, c34, c31, c32, c28, c29, c30, c52, c130 FROM 
(SELECT c26, c34, c31, c32, c28, c29, c30, c52, coalesce(list_any(list_transform(c88, lambda v131: ((c28 > (v131)."after") AND (c28 < (v131)."before")))), FALSE) AS c130 FROM 
(SELECT c26, c34, c31, c32, c28, c29, c30, c52, c88 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c26, c34, c31, c32, c28, c29, c30, CASE WHEN (add_wrapped(c33, coalesce(c42, 15552000000000::BIGINT)) <= c51) THEN add_wrapped(c33, coalesce(c42, 15552000000000::BIGINT)) END AS c52 FROM 
(SELECT c26, c34, c31, c32, c28, c29, c30, c33, c42, c51 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c26, c34, c31, c32, c28, c29, c30, c33, c42 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c26, c31, c32, c27 AS c34, c28, c29, c30, c33 FROM 
(SELECT c26, c27, c28, c29, c31, c32, c30, c33 FROM 
(SELECT "trace" AS c26, "node" AS c27, "type" AS c25, "seq" AS c28, "at" AS c29, "number" AS c30, "folder" AS c31, "object" AS c32, "modified_at" AS c33, "family" AS c24 FROM "silver/events") WHERE ((c24 IN ('change')) AND (c25 IN ('item.expired')))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c38, c39 AS c41, min(list_reduce(list_transform(CASE WHEN regexp_matches(c40, '^-?[0-9]+ (us|ms|s|min|h|d)( [0-9]+ (us|ms|s|min|h|d))*(?:\r\n|[\n\r\x{85}\x{2028}\x{2029}])?\z') THEN regexp_extract_all(c40, '[0-9]+ (us|ms|s|min|h|d)', 0) END, lambda v45: multiply_wrapped(text_to_bigint(split_part(v45, ' ', 1)), map_extract_value(MAP {'us': (1)::BIGINT, 'ms': (1000)::BIGINT, 's': (1000000)::BIGINT, 'min': (60000000)::BIGINT, 'h': 3600000000::BIGINT, 'd': 86400000000::BIGINT}, split_part(v45, ' ', 2)))), lambda v43, v44: add_wrapped(v43, v44), CAST((0)::BIGINT AS BIGINT))) AS c42 FROM 
(SELECT c38, c39, c35, c40 FROM 
(SELECT "trace" AS c38, "node" AS c39, "type" AS c37, "name" AS c35, "value" AS c40, "family" AS c36 FROM "silver/events") WHERE ((c36 IN ('run')) AND (c37 IN ('setting.value')))) WHERE (c35 = 'Replication Folder Tombstone Age Limit') GROUP BY c38, c39)) ON ((c26 = c38) AND (c34 = c41))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c49, max(c50) AS c51 FROM 
(SELECT c49, c50 FROM 
(SELECT "trace" AS c49, "type" AS c48, "at" AS c50, "family" AS c47 FROM "silver/events") WHERE ((c47 IN ('run')) AND (c48 IN ('run.ended')))) GROUP BY c49)) ON (c26 = c49))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c57 AS c57, c59 AS c59, c88 AS c88 FROM 
(SELECT c57, c59, c88 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c57, c59, list_reduce(list_reverse(list_transform(lists_zipped(c60, c86), lambda pv91: {'after': CASE WHEN ((pv91[1])."reason" = 'restored') THEN (pv91[2])."through" ELSE ((-1))::BIGINT END, 'before': (pv91[1])."seq"})), lambda v89, v90: CASE WHEN list_any(list_transform(v89, lambda v93: (((v90)."before" > (v93)."after") AND ((v90)."before" < (v93)."before")))) THEN v89 ELSE (v89 || [{'after': (v90)."after", 'before': (v90)."before"}]) END, CAST(CAST([] AS STRUCT("after" BIGINT, "before" BIGINT)[]) AS STRUCT("after" BIGINT, "before" BIGINT)[])) AS c88 FROM 
(SELECT c57, c59, c60, c86 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c57, c58 AS c59, list_transform(list_sort(list_transform(coalesce(list({'seq': c54, 'reason': c53}), []), lambda v61: {k: CASE WHEN v61 IS NOT NULL THEN {n0: (v61)."seq" IS NOT NULL, v0: (v61)."seq", n1: (v61)."reason" IS NOT NULL, v1: (v61)."reason"} END, v: v61}), 'ASC', 'NULLS LAST'), lambda v61: v61.v) AS c60 FROM 
(SELECT c57, c58, c54, c53 FROM 
(SELECT "trace" AS c57, "node" AS c58, "type" AS c56, "seq" AS c54, "reason" AS c53, "family" AS c55 FROM "silver/events") WHERE ((c55 IN ('run')) AND (c56 IN ('node.started')))) WHERE ((NOT (c53 = 'restart')) AND (c54 > (1)::BIGINT)) GROUP BY c57, c58)) JOIN 
(SELECT * FROM 
(SELECT c64, c66, list_transform(list_sort(list_transform(coalesce(list({'seq': c65, 'through': c73}), []), lambda v87: {k: CASE WHEN v87 IS NOT NULL THEN {n0: (v87)."seq" IS NOT NULL, v0: (v87)."seq", n1: (v87)."through" IS NOT NULL, v1: (v87)."through"} END, v: v87}), 'ASC', 'NULLS LAST'), lambda v87: v87.v) AS c86 FROM 
(SELECT c64 AS c64, c66 AS c66, c65 AS c65, c73 AS c73 FROM 
(SELECT c64, c66, c65, c73 FROM 
(SELECT c64, c66, c65, c73 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c64, c66, c67, c65 FROM 
(SELECT c64, c65, c66, c67 FROM 
(SELECT "trace" AS c64, "type" AS c63, "seq" AS c65, "store" AS c66, "backup" AS c67, "family" AS c62 FROM "silver/events") WHERE ((c62 IN ('run')) AND (c63 IN ('backup.restored')))))) JOIN 
(SELECT * FROM 
(SELECT c70, c71, c72, c73 FROM 
(SELECT c70, c71, c72, c73 FROM 
(SELECT "trace" AS c70, "type" AS c69, "store" AS c71, "backup" AS c72, "through" AS c73, "family" AS c68 FROM "silver/events") WHERE ((c68 IN ('run')) AND (c69 IN ('backup.made')))))) ON (((c64 = c70) AND (c66 = c71)) AND (c67 = c72)))))
UNION ALL SELECT c76 AS c64, c78 AS c66, c77 AS c65, c79 AS c73 FROM 
(SELECT c76, c78, c77, c79 FROM 
(SELECT c76, c78, c77, ((-1))::BIGINT AS c79 FROM 
(SELECT c76, c77, c78 FROM 
(SELECT "trace" AS c76, "type" AS c75, "seq" AS c77, "store" AS c78, "family" AS c74 FROM "silver/events") WHERE ((c74 IN ('run')) AND (c75 IN ('store.created'))))))
UNION ALL SELECT c82 AS c64, c84 AS c66, c83 AS c65, c85 AS c73 FROM 
(SELECT c82, c84, c83, c85 FROM 
(SELECT c82, c84, c83, ((-1))::BIGINT AS c85 FROM 
(SELECT c82, c83, c84 FROM 
(SELECT "trace" AS c82, "type" AS c81, "seq" AS c83, "store" AS c84, "family" AS c80 FROM "silver/events") WHERE ((c80 IN ('run')) AND (c81 IN ('backup.elsewhere'))))))) GROUP BY c64, c66)) ON ((c57 = c64) AND (c59 = c66)))))) ANTI JOIN 
(SELECT * FROM 
(SELECT c99, c100 FROM 
(SELECT c99, c100, c95, c96 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c99, c100, max(coalesce(c101, (0)::BIGINT)) AS c95 FROM 
(SELECT c99 AS c99, c100 AS c100, c101 AS c101 FROM 
(SELECT c99, c100, c101 FROM 
(SELECT c99, c100, c101 FROM 
(SELECT "trace" AS c99, "type" AS c98, "store" AS c100, "directory_object" AS c101, "family" AS c97 FROM "silver/events") WHERE ((c97 IN ('replication')) AND (c98 IN ('store.deleted')))))
UNION ALL SELECT c104 AS c99, c105 AS c100, c106 AS c101 FROM 
(SELECT c104, c105, c106 FROM 
(SELECT c104, c105, c106 FROM 
(SELECT c104, c105, c106 FROM 
(SELECT "trace" AS c104, "type" AS c103, "store" AS c105, "directory_object" AS c106, "family" AS c102 FROM "silver/events") WHERE ((c102 IN ('run')) AND (c103 IN ('backup.elsewhere'))))))) GROUP BY c99, c100)) LEFT JOIN 
(SELECT * FROM 
(SELECT c109, c110, max(c111) AS c96 FROM 
(SELECT c109, c110, c111 FROM 
(SELECT "trace" AS c109, "type" AS c108, "store" AS c110, "directory_object" AS c111, "family" AS c107 FROM "silver/events") WHERE ((c107 IN ('run')) AND (c108 IN ('store.created')))) GROUP BY c109, c110)) ON ((c99 = c109) AND (c100 = c110)))) WHERE (c95 >= coalesce(c96, (0)::BIGINT)))) ON ((c57 = c99) AND (c59 = c100))))
UNION ALL SELECT c116 AS c57, c117 AS c59, c129 AS c88 FROM 
(SELECT c116, c117, c129 FROM 
(SELECT c116, c117, [{'after': ((-1))::BIGINT, 'before': 4611686018427387904::BIGINT}] AS c129 FROM 
(SELECT c116, c117 FROM 
(SELECT c116, c117, c112, c113 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c116, c117, max(coalesce(c118, (0)::BIGINT)) AS c112 FROM 
(SELECT c116 AS c116, c117 AS c117, c118 AS c118 FROM 
(SELECT c116, c117, c118 FROM 
(SELECT c116, c117, c118 FROM 
(SELECT "trace" AS c116, "type" AS c115, "store" AS c117, "directory_object" AS c118, "family" AS c114 FROM "silver/events") WHERE ((c114 IN ('replication')) AND (c115 IN ('store.deleted')))))
UNION ALL SELECT c121 AS c116, c122 AS c117, c123 AS c118 FROM 
(SELECT c121, c122, c123 FROM 
(SELECT c121, c122, c123 FROM 
(SELECT c121, c122, c123 FROM 
(SELECT "trace" AS c121, "type" AS c120, "store" AS c122, "directory_object" AS c123, "family" AS c119 FROM "silver/events") WHERE ((c119 IN ('run')) AND (c120 IN ('backup.elsewhere'))))))) GROUP BY c116, c117)) LEFT JOIN 
(SELECT * FROM 
(SELECT c126, c127, max(c128) AS c113 FROM 
(SELECT c126, c127, c128 FROM 
(SELECT "trace" AS c126, "type" AS c125, "store" AS c127, "directory_object" AS c128, "family" AS c124 FROM "silver/events") WHERE ((c124 IN ('run')) AND (c125 IN ('store.created')))) GROUP BY c126, c127)) ON ((c116 = c126) AND (c117 = c127)))) WHERE (c112 >= coalesce(c113, (0)::BIGINT))))))) ON ((c26 = c57) AND (c34 = c59))))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c137, c140, c139 FROM 
(SELECT c137, c140, c139, c134, c133 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c137, c138 AS c140, c139, c134 FROM 
(SELECT c137, c138, c134, c139 FROM 
(SELECT "trace" AS c137, "node" AS c138, "type" AS c136, "seq" AS c134, "folder" AS c139, "family" AS c135 FROM "silver/events") WHERE ((c135 IN ('replication')) AND (c136 IN ('replica.dropped')))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c145 AS c145, c147 AS c147, c133 AS c133 FROM 
(SELECT c145, c147, c133 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c145, c147, list_reduce(list_reverse(list_transform(lists_zipped(c148, c174), lambda pv91: {'after': CASE WHEN ((pv91[1])."reason" = 'restored') THEN (pv91[2])."through" ELSE ((-1))::BIGINT END, 'before': (pv91[1])."seq"})), lambda v89, v90: CASE WHEN list_any(list_transform(v89, lambda v93: (((v90)."before" > (v93)."after") AND ((v90)."before" < (v93)."before")))) THEN v89 ELSE (v89 || [{'after': (v90)."after", 'before': (v90)."before"}]) END, CAST(CAST([] AS STRUCT("after" BIGINT, "before" BIGINT)[]) AS STRUCT("after" BIGINT, "before" BIGINT)[])) AS c133 FROM 
(SELECT c145, c147, c148, c174 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c145, c146 AS c147, list_transform(list_sort(list_transform(coalesce(list({'seq': c142, 'reason': c141}), []), lambda v149: {k: CASE WHEN v149 IS NOT NULL THEN {n0: (v149)."seq" IS NOT NULL, v0: (v149)."seq", n1: (v149)."reason" IS NOT NULL, v1: (v149)."reason"} END, v: v149}), 'ASC', 'NULLS LAST'), lambda v149: v149.v) AS c148 FROM 
(SELECT c145, c146, c142, c141 FROM 
(SELECT "trace" AS c145, "node" AS c146, "type" AS c144, "seq" AS c142, "reason" AS c141, "family" AS c143 FROM "silver/events") WHERE ((c143 IN ('run')) AND (c144 IN ('node.started')))) WHERE ((NOT (c141 = 'restart')) AND (c142 > (1)::BIGINT)) GROUP BY c145, c146)) JOIN 
(SELECT * FROM 
(SELECT c152, c154, list_transform(list_sort(list_transform(coalesce(list({'seq': c153, 'through': c161}), []), lambda v175: {k: CASE WHEN v175 IS NOT NULL THEN {n0: (v175)."seq" IS NOT NULL, v0: (v175)."seq", n1: (v175)."through" IS NOT NULL, v1: (v175)."through"} END, v: v175}), 'ASC', 'NULLS LAST'), lambda v175: v175.v) AS c174 FROM 
(SELECT c152 AS c152, c154 AS c154, c153 AS c153, c161 AS c161 FROM 
(SELECT c152, c154, c153, c161 FROM 
(SELECT c152, c154, c153, c161 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c152, c154, c155, c153 FROM 
(SELECT c152, c153, c154, c155 FROM 
(SELECT "trace" AS c152, "type" AS c151, "seq" AS c153, "store" AS c154, "backup" AS c155, "family" AS c150 FROM "silver/events") WHERE ((c150 IN ('run')) AND (c151 IN ('backup.restored')))))) JOIN 
(SELECT * FROM 
(SELECT c158, c159, c160, c161 FROM 
(SELECT c158, c159, c160, c161 FROM 
(SELECT "trace" AS c158, "type" AS c157, "store" AS c159, "backup" AS c160, "through" AS c161, "family" AS c156 FROM "silver/events") WHERE ((c156 IN ('run')) AND (c157 IN ('backup.made')))))) ON (((c152 = c158) AND (c154 = c159)) AND (c155 = c160)))))
UNION ALL SELECT c164 AS c152, c166 AS c154, c165 AS c153, c167 AS c161 FROM 
(SELECT c164, c166, c165, c167 FROM 
(SELECT c164, c166, c165, ((-1))::BIGINT AS c167 FROM 
(SELECT c164, c165, c166 FROM 
(SELECT "trace" AS c164, "type" AS c163, "seq" AS c165, "store" AS c166, "family" AS c162 FROM "silver/events") WHERE ((c162 IN ('run')) AND (c163 IN ('store.created'))))))
UNION ALL SELECT c170 AS c152, c172 AS c154, c171 AS c153, c173 AS c161 FROM 
(SELECT c170, c172, c171, c173 FROM 
(SELECT c170, c172, c171, ((-1))::BIGINT AS c173 FROM 
(SELECT c170, c171, c172 FROM 
(SELECT "trace" AS c170, "type" AS c169, "seq" AS c171, "store" AS c172, "family" AS c168 FROM "silver/events") WHERE ((c168 IN ('run')) AND (c169 IN ('backup.elsewhere'))))))) GROUP BY c152, c154)) ON ((c145 = c152) AND (c147 = c154)))))) ANTI JOIN 
(SELECT * FROM 
(SELECT c180, c181 FROM 
(SELECT c180, c181, c176, c177 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c180, c181, max(coalesce(c182, (0)::BIGINT)) AS c176 FROM 
(SELECT c180 AS c180, c181 AS c181, c182 AS c182 FROM 
(SELECT c180, c181, c182 FROM 
(SELECT c180, c181, c182 FROM 
(SELECT "trace" AS c180, "type" AS c179, "store" AS c181, "directory_object" AS c182, "family" AS c178 FROM "silver/events") WHERE ((c178 IN ('replication')) AND (c179 IN ('store.deleted')))))
UNION ALL SELECT c185 AS c180, c186 AS c181, c187 AS c182 FROM 
(SELECT c185, c186, c187 FROM 
(SELECT c185, c186, c187 FROM 
(SELECT c185, c186, c187 FROM 
(SELECT "trace" AS c185, "type" AS c184, "store" AS c186, "directory_object" AS c187, "family" AS c183 FROM "silver/events") WHERE ((c183 IN ('run')) AND (c184 IN ('backup.elsewhere'))))))) GROUP BY c180, c181)) LEFT JOIN 
(SELECT * FROM 
(SELECT c190, c191, max(c192) AS c177 FROM 
(SELECT c190, c191, c192 FROM 
(SELECT "trace" AS c190, "type" AS c189, "store" AS c191, "directory_object" AS c192, "family" AS c188 FROM "silver/events") WHERE ((c188 IN ('run')) AND (c189 IN ('store.created')))) GROUP BY c190, c191)) ON ((c180 = c190) AND (c181 = c191)))) WHERE (c176 >= coalesce(c177, (0)::BIGINT)))) ON ((c145 = c180) AND (c147 = c181))))
UNION ALL SELECT c197 AS c145, c198 AS c147, c210 AS c133 FROM 
(SELECT c197, c198, c210 FROM 
(SELECT c197, c198, [{'after': ((-1))::BIGINT, 'before': 4611686018427387904::BIGINT}] AS c210 FROM 
(SELECT c197, c198 FROM 
(SELECT c197, c198, c193, c194 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c197, c198, max(coalesce(c199, (0)::BIGINT)) AS c193 FROM 
(SELECT c197 AS c197, c198 AS c198, c199 AS c199 FROM 
(SELECT c197, c198, c199 FROM 
(SELECT c197, c198, c199 FROM 
(SELECT "trace" AS c197, "type" AS c196, "store" AS c198, "directory_object" AS c199, "family" AS c195 FROM "silver/events") WHERE ((c195 IN ('replication')) AND (c196 IN ('store.deleted')))))
UNION ALL SELECT c202 AS c197, c203 AS c198, c204 AS c199 FROM 
(SELECT c202, c203, c204 FROM 
(SELECT c202, c203, c204 FROM 
(SELECT c202, c203, c204 FROM 
(SELECT "trace" AS c202, "type" AS c201, "store" AS c203, "directory_object" AS c204, "family" AS c200 FROM "silver/events") WHERE ((c200 IN ('run')) AND (c201 IN ('backup.elsewhere'))))))) GROUP BY c197, c198)) LEFT JOIN 
(SELECT * FROM 
(SELECT c207, c208, max(c209) AS c194 FROM 
(SELECT c207, c208, c209 FROM 
(SELECT "trace" AS c207, "type" AS c206, "store" AS c208, "directory_object" AS c209, "family" AS c205 FROM "silver/events") WHERE ((c205 IN ('run')) AND (c206 IN ('store.created')))) GROUP BY c207, c208)) ON ((c197 = c207) AND (c198 = c208)))) WHERE (c193 >= coalesce(c194, (0)::BIGINT))))))) ON ((c137 = c145) AND (c140 = c147)))) WHERE (NOT coalesce(list_any(list_transform(c133, lambda v132: ((c134 > (v132)."after") AND (c134 < (v132)."before")))), FALSE)) GROUP BY c137, c140, c139)) ON (((c26 = c137) AND (c34 = c140)) AND (c31 = c139))))))) GROUP BY c26, c31, c32)) ON (((c1 = c26) AND (c3 = c31)) AND (c4 = c32)))))))))))))))))))));

-- table evidence/stores
-- columns "trace" VARCHAR, "store" VARCHAR, "seen" BOOLEAN
SELECT c1 AS "trace", c2 AS "store", c32 AS "seen" FROM (SELECT c1, c2, coalesce(c31, FALSE) AS c32 FROM 
(SELECT c1, c2, c31 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c1, c2 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT DISTINCT c1, c2 FROM 
(SELECT c1 AS c1, c2 AS c2 FROM 
(SELECT c1, c2 FROM 
(SELECT "trace" AS c1, "store" AS c2, "later" AS c3 FROM "organization/servers") WHERE (NOT c3))
UNION ALL SELECT c4 AS c1, c5 AS c2 FROM 
(SELECT c4, c5 FROM 
(SELECT DISTINCT c4, c5 FROM 
(SELECT c4, c8 AS c5 FROM 
(SELECT c4, c8 FROM 
(SELECT "trace" AS c4, "node" AS c8, "type" AS c7, "family" AS c6 FROM "silver/events") WHERE ((c6 IN ('run')) AND (c7 IN ('node.started')))))))))) ANTI JOIN 
(SELECT * FROM 
(SELECT c13, c14 FROM 
(SELECT c13, c14, c9, c10 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c13, c14, max(coalesce(c15, (0)::BIGINT)) AS c9 FROM 
(SELECT c13 AS c13, c14 AS c14, c15 AS c15 FROM 
(SELECT c13, c14, c15 FROM 
(SELECT c13, c14, c15 FROM 
(SELECT "trace" AS c13, "type" AS c12, "store" AS c14, "directory_object" AS c15, "family" AS c11 FROM "silver/events") WHERE ((c11 IN ('replication')) AND (c12 IN ('store.deleted')))))
UNION ALL SELECT c18 AS c13, c19 AS c14, c20 AS c15 FROM 
(SELECT c18, c19, c20 FROM 
(SELECT c18, c19, c20 FROM 
(SELECT c18, c19, c20 FROM 
(SELECT "trace" AS c18, "type" AS c17, "store" AS c19, "directory_object" AS c20, "family" AS c16 FROM "silver/events") WHERE ((c16 IN ('run')) AND (c17 IN ('backup.elsewhere'))))))) GROUP BY c13, c14)) LEFT JOIN 
(SELECT * FROM 
(SELECT c23, c24, max(c25) AS c10 FROM 
(SELECT c23, c24, c25 FROM 
(SELECT "trace" AS c23, "type" AS c22, "store" AS c24, "directory_object" AS c25, "family" AS c21 FROM "silver/events") WHERE ((c21 IN ('run')) AND (c22 IN ('store.created')))) GROUP BY c23, c24)) ON ((c13 = c23) AND (c14 = c24)))) WHERE (c9 >= coalesce(c10, (0)::BIGINT)))) ON ((c1 = c13) AND (c2 = c14))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c26, c27, TRUE AS c31 FROM 
(SELECT DISTINCT c26, c27 FROM 
(SELECT c26, c30 AS c27 FROM 
(SELECT c26, c30 FROM 
(SELECT "trace" AS c26, "node" AS c30, "type" AS c29, "family" AS c28 FROM "silver/events") WHERE ((c28 IN ('run')) AND (c29 IN ('node.started')))))))) ON ((c1 = c26) AND (c2 = c27)))));

-- table evidence/doubts
-- columns "trace" VARCHAR, "doubt" VARCHAR
SELECT c3 AS "trace", c7 AS "doubt" FROM (SELECT c3 AS c3, c7 AS c7 FROM 
(SELECT c3, printf('%s of the first %s events of %s are missing', coalesce((subtract_wrapped(c1, c2))::VARCHAR, 'null'), coalesce((c1)::VARCHAR, 'null'), coalesce((c4)::VARCHAR, 'null')) AS c7 FROM 
(SELECT c3, c4, wrapped(sum(c5)) AS c2, max(c6) AS c1 FROM 
(SELECT "trace" AS c3, "node" AS c4, "distinct" AS c5, "last" AS c6 FROM "silver/numbers") GROUP BY c3, c4) WHERE (subtract_wrapped(c1, c2) > (0)::BIGINT))
UNION ALL SELECT c10 AS c3, c26 AS c7 FROM 
(SELECT c10, c26 FROM 
(SELECT c10, CASE WHEN c8 THEN 'the run has no end: its last events are missing, or it is still running' ELSE printf('the events of %s end without a stop', coalesce((c11)::VARCHAR, 'null')) END AS c26 FROM 
(SELECT c10, c11, c8 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c10, c11, arg_max_null(c13, c12) AS c9, max(c14) AS c8 FROM 
(SELECT "trace" AS c10, "node" AS c11, "last" AS c12, "last_type" AS c13, "is_lab" AS c14 FROM "silver/numbers") GROUP BY c10, c11) WHERE (NOT CASE WHEN c8 THEN (c9 = 'run.ended') ELSE (c9 = 'node.stopped') END)) ANTI JOIN 
(SELECT * FROM 
(SELECT c15, c16 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT DISTINCT c15, c16 FROM 
(SELECT c15, map_extract_value(c20, 'server') AS c16 FROM 
(SELECT "trace" AS c15, "type" AS c18, "kind" AS c19, "details" AS c20, "family" AS c17 FROM "silver/events") WHERE (((c17 = 'run') AND (c18 = 'fault.injected')) AND (c19 = 'kill'))))) SEMI JOIN 
(SELECT * FROM 
(SELECT c23, c24 AS c25 FROM 
(SELECT "trace" AS c23, "type" AS c22, "store" AS c24, "family" AS c21 FROM "silver/events") WHERE ((c21 = 'replication') AND (c22 = 'store.deleted')))) ON ((c15 = c23) AND (c16 = c25))))) ON ((c10 = c15) AND (c11 = c16))))))
UNION ALL SELECT c28 AS c3, c32 AS c7 FROM 
(SELECT c28, c32 FROM 
(SELECT c28, 'the event run.started is missing, and with it the topology' AS c32 FROM 
(SELECT c28, max(c31) AS c27 FROM 
(SELECT c28, max(c30) AS c31 FROM 
(SELECT "trace" AS c28, "node" AS c29, "is_lab" AS c30 FROM "silver/numbers") GROUP BY c28, c29) GROUP BY c28) WHERE (NOT c27)))
UNION ALL SELECT c36 AS c3, c38 AS c7 FROM 
(SELECT c36, c38 FROM 
(SELECT c36, 'the topology in run.started cannot be read' AS c38 FROM 
(SELECT c36, max((json_text(c37, '$.servers') IS NOT NULL)) AS c33 FROM 
(SELECT "trace" AS c36, "type" AS c35, "topology" AS c37, "family" AS c34 FROM "bronze") WHERE ((c34 = 'run') AND (c35 = 'run.started')) GROUP BY c36) WHERE (NOT c33)))
UNION ALL SELECT c39 AS c3, c40 AS c7 FROM 
(SELECT c39, c40 FROM 
(SELECT DISTINCT c39, c40 FROM 
(SELECT coalesce(c50, c52, (c45 || '#?')) AS c39, c40 FROM 
(SELECT c45, c50, c40, c52 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c45, c50, ('segment ' || list_extract(str_split(c46, '/'), (-1)) || ' ' || CASE WHEN (c41 IS NULL) THEN 'is cut: its last line is missing' ELSE 'was changed after it was written' END) AS c40 FROM 
(SELECT c45, c46, max(CASE WHEN (c47 IS NULL) THEN c44 END) AS c50, count(1) FILTER (WHERE (NOT (c47 IS NOT DISTINCT FROM 'segment end'))) AS c42, wrapped(sum(CASE WHEN (NOT (c47 IS NOT DISTINCT FROM 'segment end')) THEN c49 END)) AS c43, struct_from_json(max(CASE WHEN (c47 IS NOT DISTINCT FROM 'segment end') THEN c48 END), '"STRUCT(\"events\" BIGINT, \"crc32_sum\" BIGINT)"') AS c41 FROM 
(SELECT "trace" AS c44, "place" AS c45, "file" AS c46, "aside" AS c47, "text" AS c48, "hash" AS c49 FROM "bronze") GROUP BY c45, c46) WHERE (NOT (((c41)."events" IS NOT DISTINCT FROM c42) AND ((c41)."crc32_sum" IS NOT DISTINCT FROM c43))))) LEFT JOIN 
(SELECT * FROM 
(SELECT DISTINCT c51, c52 FROM 
(SELECT c51, c54 AS c52 FROM 
(SELECT "trace" AS c54, "place" AS c51, "aside" AS c53 FROM "bronze") WHERE (c53 IS NULL)))) ON (c45 = c51))))))
UNION ALL SELECT c55 AS c3, c56 AS c7 FROM 
(SELECT c55, c56 FROM 
(SELECT DISTINCT c55, c56 FROM 
(SELECT coalesce(c62, c64, (c58 || '#?')) AS c55, c56 FROM 
(SELECT c58, c62, c56, c64 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c58, CAST(NULL AS VARCHAR) AS c62, printf('%s %s cannot be read, the first in %s', coalesce((c60)::VARCHAR, 'null'), coalesce((CASE WHEN (c60 = (1)::BIGINT) THEN 'line' ELSE 'lines' END)::VARCHAR, 'null'), coalesce((list_extract(str_split(c61, '/'), (-1)))::VARCHAR, 'null')) AS c56 FROM 
(SELECT c58, count(1) AS c60, min(c59) AS c61 FROM 
(SELECT "place" AS c58, "file" AS c59, "aside" AS c57 FROM "bronze") WHERE (c57 IN ('malformed', 'other version')) GROUP BY c58))) LEFT JOIN 
(SELECT * FROM 
(SELECT DISTINCT c63, c64 FROM 
(SELECT c63, c66 AS c64 FROM 
(SELECT "trace" AS c66, "place" AS c63, "aside" AS c65 FROM "bronze") WHERE (c65 IS NULL)))) ON (c58 = c63))))))
UNION ALL SELECT c70 AS c3, c78 AS c7 FROM 
(SELECT c70, c78 FROM 
(SELECT c70, c78 FROM 
(SELECT c70, printf('event %s of %s appears twice with different content', coalesce((min(c73))::VARCHAR, 'null'), coalesce((c72)::VARCHAR, 'null')) AS c78 FROM 
(SELECT c70, c72, c73, min(c71) AS c67, max(c71) AS c68 FROM 
(SELECT c70, c72, c71, c73 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT "trace" AS c70, "aside" AS c69, "hash" AS c71, "node" AS c72, "seq" AS c73 FROM "bronze") WHERE ((c69 IS NULL) OR (c69 = 'unknown type'))) SEMI JOIN 
(SELECT * FROM 
(SELECT DISTINCT c74, c75 FROM 
(SELECT c74, c75 FROM 
(SELECT "trace" AS c74, "node" AS c75, "found" AS c76, "distinct" AS c77 FROM "silver/numbers") WHERE (c76 > c77)))) ON ((c70 = c74) AND (c72 = c75)))) GROUP BY c70, c72, c73) WHERE (NOT (c67 = c68)) GROUP BY c70, c72)))
UNION ALL SELECT c80 AS c3, c82 AS c7 FROM 
(SELECT c80, c82 FROM 
(SELECT c80, printf('%s is not in the trace', coalesce((c81)::VARCHAR, 'null')) AS c82 FROM 
(SELECT "trace" AS c80, "store" AS c81, "seen" AS c79 FROM "evidence/stores") WHERE (NOT c79))));

-- table evidence/folders
-- columns "trace" VARCHAR, "folder" VARCHAR, "path" VARCHAR, "holders" VARCHAR[], "doubtful" BOOLEAN
SELECT c1 AS "trace", c4 AS "folder", c5 AS "path", c3 AS "holders", c6 AS "doubtful" FROM (SELECT c1 AS c1, c4 AS c4, c5 AS c5, c3 AS c3, c6 AS c6 FROM 
(SELECT c1, '1-1' AS c4, '1-1' AS c5, c3, FALSE AS c6 FROM 
(SELECT c1, list_sort(coalesce(list(DISTINCT c2) FILTER (WHERE c2 IS NOT NULL), []), 'ASC', 'NULLS LAST') AS c3 FROM 
(SELECT "trace" AS c1, "store" AS c2 FROM "evidence/stores") GROUP BY c1))
UNION ALL SELECT c11 AS c1, c76 AS c4, c77 AS c5, c96 AS c3, c71 AS c6 FROM 
(SELECT c11, c76, c77, c96, c71 FROM 
(SELECT c11, c76, c77, list_filter(c30, lambda v97: (NOT list_contains(coalesce(c95, CAST([] AS VARCHAR[])), v97))) AS c96, c71 FROM 
(SELECT c11, c76, c77, c30, c71, c95 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c11, c15 AS c76, list_text((list_reverse((c7)."names") || [c28]), '/') AS c77, c30, c71 FROM 
(SELECT c11, c15, c28, c30, c7, list_any(list_transform(c38, lambda v72: (list_reduce(number_series(1, 64), lambda v73, v74: CASE WHEN (((((v73)."at" IS NOT NULL) AND (NOT ((v73)."at" = '1-1'))) AND (NOT (v73)."dead")) AND ((map_extract_value(c67, (v73)."at") IS NOT NULL) AND (NOT list_contains_or_null((v73)."seen", (v73)."at")))) THEN {'at': (map_extract_value(c67, (v73)."at"))."parent", 'names': ((v73)."names" || [coalesce((map_extract_value(c67, (v73)."at"))."subject", '')]), 'dead': coalesce((map_extract_value(c67, (v73)."at"))."dead", FALSE), 'seen': ((v73)."seen" || [(v73)."at"])} ELSE v73 END, CAST({'at': v72, 'names': CAST([] AS VARCHAR[]), 'dead': FALSE, 'seen': [c15]} AS STRUCT("at" VARCHAR, "names" VARCHAR[], "dead" BOOLEAN, "seen" VARCHAR[]))))."dead")) AS c71 FROM 
(SELECT c11, c15, c28, c30, c38, c67, list_reduce(number_series(1, 64), lambda v68, v69: CASE WHEN (((((v68)."at" IS NOT NULL) AND (NOT ((v68)."at" = '1-1'))) AND (NOT (v68)."dead")) AND ((map_extract_value(c67, (v68)."at") IS NOT NULL) AND (NOT list_contains_or_null((v68)."seen", (v68)."at")))) THEN {'at': (map_extract_value(c67, (v68)."at"))."parent", 'names': ((v68)."names" || [coalesce((map_extract_value(c67, (v68)."at"))."subject", '')]), 'dead': coalesce((map_extract_value(c67, (v68)."at"))."dead", FALSE), 'seen': ((v68)."seen" || [(v68)."at"])} ELSE v68 END, CAST({'at': c29, 'names': CAST([] AS VARCHAR[]), 'dead': FALSE, 'seen': [c15]} AS STRUCT("at" VARCHAR, "names" VARCHAR[], "dead" BOOLEAN, "seen" VARCHAR[]))) AS c7 FROM 
(SELECT c11, c15, c28, c29, c30, c38, c67 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c11, c15, c8, c28, c29, c30, c38 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c11, c15, c8, c28, c29, c30 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c11, c12 AS c15, (c13 IS NOT NULL) AS c8, (list_extract(c14, 1))."number" AS c9 FROM 
(SELECT "trace" AS c11, "folder" AS c10, "object" AS c12, "tombstone" AS c13, "versions" AS c14 FROM "evidence/objects") WHERE (c10 = '1-1')) WHERE (c8 OR (c9 IS NOT NULL))) LEFT JOIN 
(SELECT * FROM 
(SELECT c18, c20 AS c31, c23, c28, c29, c30 FROM 
(SELECT c18, c20, c23, (c27)."subject" AS c28, (c27)."parent" AS c29, (c27)."replicas" AS c30 FROM 
(SELECT c18, c20, c23, arg_min_null({'subject': c24, 'parent': c26, 'replicas': c25}, {n0: c22 IS NOT NULL, v0: c22, n1: c19 IS NOT NULL, v1: c19, n2: c21 IS NOT NULL, v2: c21}) AS c27 FROM 
(SELECT "trace" AS c18, "store" AS c19, "folder" AS c16, "object" AS c20, "act" AS c17, "seq" AS c21, "at" AS c22, "number" AS c23, "subject" AS c24, "replicas" AS c25, "parent" AS c26 FROM "evidence/versions") WHERE ((c16 = '1-1') AND (c17 = 'made')) GROUP BY c18, c20, c23)))) ON (((c11 = c18) AND (c15 = c31)) AND (c9 = c23))))) JOIN 
(SELECT * FROM 
(SELECT c34, c37, coalesce(list(DISTINCT c36) FILTER (WHERE c36 IS NOT NULL), []) AS c38 FROM 
(SELECT c34, c35 AS c37, c36 FROM 
(SELECT "trace" AS c34, "folder" AS c32, "object" AS c35, "act" AS c33, "parent" AS c36 FROM "evidence/versions") WHERE ((c32 = '1-1') AND (c33 = 'made'))) GROUP BY c34, c37)) ON ((c11 = c34) AND (c15 = c37)))) WHERE (NOT c8)) JOIN 
(SELECT * FROM 
(SELECT c42, map_from_pairs(coalesce(list({'id': c46, 'col2': {'parent': c60, 'dead': c39, 'subject': c59}}), [])) AS c67 FROM 
(SELECT c42, c46, c39, c59, c60 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c42, c46, c39, c59, c60 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c42, c43 AS c46, (c44 IS NOT NULL) AS c39, (list_extract(c45, 1))."number" AS c40 FROM 
(SELECT "trace" AS c42, "folder" AS c41, "object" AS c43, "tombstone" AS c44, "versions" AS c45 FROM "evidence/objects") WHERE (c41 = '1-1')) WHERE (c39 OR (c40 IS NOT NULL))) LEFT JOIN 
(SELECT * FROM 
(SELECT c49, c51 AS c61, c54, c59, c60 FROM 
(SELECT c49, c51, c54, (c58)."subject" AS c59, (c58)."parent" AS c60 FROM 
(SELECT c49, c51, c54, arg_min_null({'subject': c55, 'parent': c57, 'replicas': c56}, {n0: c53 IS NOT NULL, v0: c53, n1: c50 IS NOT NULL, v1: c50, n2: c52 IS NOT NULL, v2: c52}) AS c58 FROM 
(SELECT "trace" AS c49, "store" AS c50, "folder" AS c47, "object" AS c51, "act" AS c48, "seq" AS c52, "at" AS c53, "number" AS c54, "subject" AS c55, "replicas" AS c56, "parent" AS c57 FROM "evidence/versions") WHERE ((c47 = '1-1') AND (c48 = 'made')) GROUP BY c49, c51, c54)))) ON (((c42 = c49) AND (c46 = c61)) AND (c40 = c54))))) JOIN 
(SELECT * FROM 
(SELECT c64, c66 FROM 
(SELECT c64, c65 AS c66 FROM 
(SELECT "trace" AS c64, "folder" AS c62, "object" AS c65, "act" AS c63 FROM "evidence/versions") WHERE ((c62 = '1-1') AND (c63 = 'made'))) GROUP BY c64, c66)) ON ((c42 = c64) AND (c46 = c66)))) GROUP BY c42)) ON (c11 = c42))))) WHERE (NOT (c7)."dead"))) LEFT JOIN 
(SELECT * FROM 
(SELECT c82, coalesce(list(DISTINCT c83) FILTER (WHERE c83 IS NOT NULL), []) AS c95 FROM 
(SELECT c82, c83 FROM 
(SELECT c82, c83, c78, c79 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c82, c83, max(coalesce(c84, (0)::BIGINT)) AS c78 FROM 
(SELECT c82 AS c82, c83 AS c83, c84 AS c84 FROM 
(SELECT c82, c83, c84 FROM 
(SELECT c82, c83, c84 FROM 
(SELECT "trace" AS c82, "type" AS c81, "store" AS c83, "directory_object" AS c84, "family" AS c80 FROM "silver/events") WHERE ((c80 IN ('replication')) AND (c81 IN ('store.deleted')))))
UNION ALL SELECT c87 AS c82, c88 AS c83, c89 AS c84 FROM 
(SELECT c87, c88, c89 FROM 
(SELECT c87, c88, c89 FROM 
(SELECT c87, c88, c89 FROM 
(SELECT "trace" AS c87, "type" AS c86, "store" AS c88, "directory_object" AS c89, "family" AS c85 FROM "silver/events") WHERE ((c85 IN ('run')) AND (c86 IN ('backup.elsewhere'))))))) GROUP BY c82, c83)) LEFT JOIN 
(SELECT * FROM 
(SELECT c92, c93, max(c94) AS c79 FROM 
(SELECT c92, c93, c94 FROM 
(SELECT "trace" AS c92, "type" AS c91, "store" AS c93, "directory_object" AS c94, "family" AS c90 FROM "silver/events") WHERE ((c90 IN ('run')) AND (c91 IN ('store.created')))) GROUP BY c92, c93)) ON ((c82 = c92) AND (c83 = c93)))) WHERE (c78 >= coalesce(c79, (0)::BIGINT))) GROUP BY c82)) ON (c11 = c82))))));

-- table evidence/mails
-- columns "trace" VARCHAR, "mail" VARCHAR, "store" VARCHAR, "sender" VARCHAR, "message_type" BIGINT, "size" BIGINT, "number" BIGINT, "marks" VARCHAR[], "submitted_at" BIGINT, "received_at" BIGINT, "times" BIGINT, "dropped_at" BIGINT, "fault" VARCHAR, "expired_at" BIGINT, "deleted_at" BIGINT, "bad_at" BIGINT, "reason" VARCHAR
SELECT c5 AS "trace", c4 AS "mail", c15 AS "store", c16 AS "sender", c17 AS "message_type", c18 AS "size", c19 AS "number", c20 AS "marks", c21 AS "submitted_at", c22 AS "received_at", c23 AS "times", c24 AS "dropped_at", c25 AS "fault", c26 AS "expired_at", c27 AS "deleted_at", c28 AS "bad_at", c29 AS "reason" FROM (SELECT c5, c4, c15, min(CASE WHEN (c3 = 'mail.submitted') THEN c6 END) AS c16, min(CASE WHEN (c3 = 'mail.submitted') THEN c11 END) AS c17, min(CASE WHEN (c3 = 'mail.submitted') THEN c12 END) AS c18, min(CASE WHEN (c3 = 'mail.submitted') THEN text_to_bigint(c13) END) AS c19, arg_min(CASE WHEN (c3 = 'mail.submitted') THEN c14 END, CASE WHEN (c3 = 'mail.submitted') THEN list_transform(c14, lambda c14_item: {n: c14_item IS NOT NULL, v: c14_item}) END) AS c20, min(CASE WHEN (c3 = 'mail.submitted') THEN c7 END) AS c21, min(CASE WHEN (c3 = 'mail.received') THEN c7 END) AS c22, count(1) FILTER (WHERE (c3 = 'mail.received')) AS c23, min(CASE WHEN (c3 = 'hop.dropped') THEN c7 END) AS c24, min(CASE WHEN (c3 = 'hop.dropped') THEN c9 END) AS c25, min(CASE WHEN (c3 = 'hop.expired') THEN c7 END) AS c26, min(CASE WHEN (c3 = 'hop.deleted') THEN c7 END) AS c27, min(CASE WHEN (c3 = 'mail.bad') THEN c7 END) AS c28, min(CASE WHEN (c3 = 'mail.bad') THEN c8 END) AS c29 FROM 
(SELECT c5, c6, c3, c7, c4, c8, regexp_replace(c1, '(-IS)?@[^\n\r\x{85}\x{2028}\x{2029}]*\z', '', 'g') AS c15, c9, c11, c12, c13, c14 FROM 
(SELECT c5, c6, c3, c7, c4, c8, c9, c11, c12, c13, c14, c1 FROM 
(SELECT * EXCLUDE (uc1), uc1 AS c1 FROM (SELECT *, unnest(CASE WHEN (c3 IN ('mail.submitted', 'hop.dropped', 'hop.expired', 'hop.deleted')) THEN c10 ELSE [c6] END) AS uc1 FROM 
(SELECT "trace" AS c5, "node" AS c6, "type" AS c3, "at" AS c7, "mail" AS c4, "reason" AS c8, "fault" AS c9, "recipients" AS c10, "message_type" AS c11, "size" AS c12, "number" AS c13, "marks" AS c14, "family" AS c2 FROM "silver/events") WHERE ((c2 IN ('mail')) AND (c3 IN ('mail.submitted', 'hop.dropped', 'hop.expired', 'hop.deleted', 'mail.received', 'mail.bad'))) AND (c4 IS NOT NULL))))) GROUP BY c5, c4, c15);

-- table evidence/mail_folders
-- columns "trace" VARCHAR, "mail" VARCHAR, "sender" VARCHAR, "at" BIGINT, "message_type" BIGINT, "folder" VARCHAR, "updates" BIGINT, "stands_for" STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[], "row" STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[]
SELECT c4 AS "trace", c7 AS "mail", c10 AS "sender", c6 AS "at", c8 AS "message_type", c11 AS "folder", c16 AS "updates", c17 AS "stands_for", c24 AS "row" FROM (SELECT c4, c7, c10, c6, c8, c11, c16, (list_flattened(list_transform(list_filter(str_split(c12, ';'), lambda v19: (NOT (v19 = ''))), lambda v18: list_transform(str_split(split_part(v18, ':', 2), ','), lambda v20: {'guid': CASE WHEN ('message' = 'fai') THEN (split_part(v18, ':', 1) || ' fai') ELSE split_part(v18, ':', 1) END, 'low': text_to_bigint(split_part(v20, '-', 1)), 'high': text_to_bigint(split_part(v20, '-', (-1)))}))) || list_flattened(list_transform(list_filter(str_split(c13, ';'), lambda v22: (NOT (v22 = ''))), lambda v21: list_transform(str_split(split_part(v21, ':', 2), ','), lambda v23: {'guid': CASE WHEN ('fai' = 'fai') THEN (split_part(v21, ':', 1) || ' fai') ELSE split_part(v21, ':', 1) END, 'low': text_to_bigint(split_part(v23, '-', 1)), 'high': text_to_bigint(split_part(v23, '-', (-1)))})))) AS c17, (list_flattened(list_transform(list_filter(str_split(c14, ';'), lambda v26: (NOT (v26 = ''))), lambda v25: list_transform(str_split(split_part(v25, ':', 2), ','), lambda v27: {'guid': CASE WHEN ('message' = 'fai') THEN (split_part(v25, ':', 1) || ' fai') ELSE split_part(v25, ':', 1) END, 'low': text_to_bigint(split_part(v27, '-', 1)), 'high': text_to_bigint(split_part(v27, '-', (-1)))}))) || list_flattened(list_transform(list_filter(str_split(c15, ';'), lambda v29: (NOT (v29 = ''))), lambda v28: list_transform(str_split(split_part(v28, ':', 2), ','), lambda v30: {'guid': CASE WHEN ('fai' = 'fai') THEN (split_part(v28, ':', 1) || ' fai') ELSE split_part(v28, ':', 1) END, 'low': text_to_bigint(split_part(v30, '-', 1)), 'high': text_to_bigint(split_part(v30, '-', (-1)))})))) AS c24 FROM 
(SELECT c4, c7, c10, c6, c8, (c1)."folder" AS c11, (c1)."cnset" AS c12, (c1)."cnset_fai" AS c13, (c1)."row" AS c14, (c1)."row_fai" AS c15, (c1)."updates" AS c16 FROM 
(SELECT c4, c7, c5 AS c10, c6, c8, c1 FROM 
(SELECT * EXCLUDE (uc1), uc1 AS c1 FROM (SELECT *, unnest(list_from_json(c9, '"STRUCT(\"folder\" VARCHAR, \"cnset\" VARCHAR, \"cnset_fai\" VARCHAR, \"row\" VARCHAR, \"row_fai\" VARCHAR, \"updates\" BIGINT, \"expired\" VARCHAR, \"expired_fai\" VARCHAR)[]"')) AS uc1 FROM 
(SELECT "trace" AS c4, "node" AS c5, "type" AS c3, "at" AS c6, "mail" AS c7, "message_type" AS c8, "folders" AS c9, "family" AS c2 FROM "silver/events") WHERE ((c2 IN ('mail')) AND (c3 IN ('mail.submitted'))))))));

-- table gold/mismatches
-- columns "trace" VARCHAR, "folder" VARCHAR, "store" VARCHAR, "path" VARCHAR, "object" VARCHAR, "kind" VARCHAR, "subject" VARCHAR, "what" VARCHAR, "number" VARCHAR
SELECT c17 AS "trace", c18 AS "folder", c50 AS "store", c25 AS "path", c19 AS "object", c6 AS "kind", c20 AS "subject", c1 AS "what", c3 AS "number" FROM (SELECT c17, c18, c50, c25, c19, c6, c20, c1, c3 FROM 
(SELECT c17, c18, c50, c25, c19, c6, c20, c7, c2, c1, c3, c5 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c17, c18, c25, c19, c6, c20, c7, c2, (c10)."store" AS c50, (c10)."what" AS c1, (c10)."number" AS c3 FROM 
(SELECT c17, c18, c25, c19, c6, c20, c7, c2, c10 FROM 
(SELECT * EXCLUDE (uc10), uc10 AS c10 FROM (SELECT *, unnest(c11) AS uc10 FROM 
(SELECT c17, c18, c19, c6, c20, c7, c2, c25, flatten(list_transform(c27, lambda v30: (list_transform(list_filter(c7, lambda v32: ((NOT list_any(list_transform(coalesce(((v30)."state")."versions", CAST([] AS STRUCT("number" VARCHAR, "guid" VARCHAR, "counter" BIGINT, "digest" VARCHAR)[])), lambda v33: ((v33)."number" = (v32)."number")))) AND ((NOT c26) OR list_any(list_transform(c27, lambda v34: list_any(list_transform(coalesce(((v34)."state")."versions", CAST([] AS STRUCT("number" VARCHAR, "guid" VARCHAR, "counter" BIGINT, "digest" VARCHAR)[])), lambda v35: ((v35)."number" = (v32)."number")))))))), lambda v31: {'store': (v30)."store", 'what': 'lacks', 'number': (v31)."number"}) || list_transform(list_filter(list_filter(coalesce(((v30)."state")."versions", CAST([] AS STRUCT("number" VARCHAR, "guid" VARCHAR, "counter" BIGINT, "digest" VARCHAR)[])), lambda v38: (NOT list_any(list_transform(c7, lambda v39: ((v39)."number" = (v38)."number"))))), lambda v37: (list_contains_or_null(c21, (v37)."number") AND ((NOT c26) OR list_any(list_transform(c27, lambda v40: (NOT list_any(list_transform(coalesce(((v40)."state")."versions", CAST([] AS STRUCT("number" VARCHAR, "guid" VARCHAR, "counter" BIGINT, "digest" VARCHAR)[])), lambda v41: ((v41)."number" = (v37)."number"))))))))), lambda v36: {'store': (v30)."store", 'what': 'keeps', 'number': (v36)."number"}) || list_transform(list_filter(list_filter(coalesce(((v30)."state")."versions", CAST([] AS STRUCT("number" VARCHAR, "guid" VARCHAR, "counter" BIGINT, "digest" VARCHAR)[])), lambda v44: (NOT list_any(list_transform(c7, lambda v45: ((v45)."number" = (v44)."number"))))), lambda v43: (NOT list_contains_or_null(c21, (v43)."number"))), lambda v42: {'store': (v30)."store", 'what': 'not made', 'number': (v42)."number"}) || list_transform(list_filter(c7, lambda v47: ((NOT ((v47)."digest" = '')) AND list_any(list_transform(coalesce(((v30)."state")."versions", CAST([] AS STRUCT("number" VARCHAR, "guid" VARCHAR, "counter" BIGINT, "digest" VARCHAR)[])), lambda v48: (((v48)."number" = (v47)."number") AND (NOT ((v48)."digest" = (v47)."digest"))))))), lambda v46: {'store': (v30)."store", 'what': 'bytes', 'number': (v46)."number"}) || CASE WHEN (((c16 IS NOT NULL) AND (coalesce(len(coalesce(((v30)."state")."versions", CAST([] AS STRUCT("number" VARCHAR, "guid" VARCHAR, "counter" BIGINT, "digest" VARCHAR)[])))::INTEGER, -1) = 0)) AND ((NOT (coalesce((((v30)."state")."has_tombstone" OR ((v30)."state")."had_tombstone"), FALSE) OR c22)) AND ((NOT c26) OR list_any(list_transform(c27, lambda v49: coalesce(((v49)."state")."has_tombstone", FALSE)))))) THEN [{'store': (v30)."store", 'what': 'lacks deletion', 'number': c16}] ELSE CAST([] AS STRUCT("store" VARCHAR, "what" VARCHAR, "number" VARCHAR)[]) END))) AS c11 FROM 
(SELECT c17, c18, c19, c6, c20, c21, c16, c7, c2, c22, c25, c26, list_transform(c12, lambda v28: {'store': v28, 'state': list_extract(list_filter(c15, lambda v29: ((v29)."store" = v28)), 1)}) AS c27 FROM 
(SELECT c17, c18, c19, c6, c20, c21, c16, c7, c2, c22, c15, c25, c12, c26 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT "trace" AS c17, "folder" AS c18, "object" AS c19, "kind" AS c6, "subject" AS c20, "made" AS c21, "tombstone" AS c16, "versions" AS c7, "gone" AS c2, "forgotten" AS c22, "states" AS c15 FROM "evidence/objects")) JOIN 
(SELECT * FROM 
(SELECT "trace" AS c23, "folder" AS c24, "path" AS c25, "holders" AS c12, "doubtful" AS c26 FROM "evidence/folders")) ON ((c17 = c23) AND (c18 = c24)))) WHERE (NOT coalesce((coalesce(len(list_except(c12, list_transform(list_filter(c15, lambda v14: (((v14)."versions" = c7) AND ((c16 IS NULL) OR (v14)."had_tombstone"))), lambda v13: (v13)."store")))::INTEGER, -1) = 0), FALSE)))) WHERE (coalesce(len(c11)::INTEGER, -1) > 0)))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c53, c58, c55, flatten(coalesce(list(c59) FILTER (WHERE c59 IS NOT NULL), [])) AS c5 FROM 
(SELECT c53, c54 AS c58, c55, (list_flattened(list_transform(list_filter(str_split(c56, ';'), lambda v61: (NOT (v61 = ''))), lambda v60: list_transform(str_split(split_part(v60, ':', 2), ','), lambda v62: {'guid': CASE WHEN ('message' = 'fai') THEN (split_part(v60, ':', 1) || ' fai') ELSE split_part(v60, ':', 1) END, 'low': text_to_bigint(split_part(v62, '-', 1)), 'high': text_to_bigint(split_part(v62, '-', (-1)))}))) || list_flattened(list_transform(list_filter(str_split(c57, ';'), lambda v64: (NOT (v64 = ''))), lambda v63: list_transform(str_split(split_part(v63, ':', 2), ','), lambda v65: {'guid': CASE WHEN ('fai' = 'fai') THEN (split_part(v63, ':', 1) || ' fai') ELSE split_part(v63, ':', 1) END, 'low': text_to_bigint(split_part(v65, '-', 1)), 'high': text_to_bigint(split_part(v65, '-', (-1)))})))) AS c59 FROM 
(SELECT c53, c54, c55, c56, c57 FROM 
(SELECT "trace" AS c53, "node" AS c54, "type" AS c52, "folder" AS c55, "cnset" AS c56, "cnset_fai" AS c57, "family" AS c51 FROM "silver/events") WHERE ((c51 IN ('replication')) AND (c52 IN ('expired.everywhere'))))) GROUP BY c53, c58, c55)) ON (((c17 = c53) AND (c18 = c55)) AND (c50 = c58)))) WHERE (NOT (((c1 = 'lacks') AND (list_contains_or_null(c2, c3) OR list_any(list_transform(coalesce(c5, CAST([] AS STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[])), lambda v4: (((v4)."guid" = CASE WHEN (c6 = 'fai') THEN (split_part(c3, ':', 1) || ' fai') ELSE split_part(c3, ':', 1) END) AND ((text_to_bigint(split_part(c3, ':', -1)) >= (v4)."low") AND (text_to_bigint(split_part(c3, ':', -1)) <= (v4)."high"))))))) OR (((c1 = 'keeps') AND (coalesce(len(c7)::INTEGER, -1) > 0)) AND list_all(list_transform(c7, lambda v8: (list_contains_or_null(c2, (v8)."number") OR list_any(list_transform(coalesce(c5, CAST([] AS STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[])), lambda v9: (((v9)."guid" = CASE WHEN (c6 = 'fai') THEN (split_part((v8)."number", ':', 1) || ' fai') ELSE split_part((v8)."number", ':', 1) END) AND ((text_to_bigint(split_part((v8)."number", ':', -1)) >= (v9)."low") AND (text_to_bigint(split_part((v8)."number", ':', -1)) <= (v9)."high"))))))))))));

-- table gold/verdicts
-- columns "trace" VARCHAR, "folder" VARCHAR, "path" VARCHAR, "holders" VARCHAR[], "judgement" VARCHAR, "wrong" BIGINT, "reasons" VARCHAR[]
SELECT c1 AS "trace", c2 AS "folder", c3 AS "path", c4 AS "holders", c29 AS "judgement", c30 AS "wrong", c31 AS "reasons" FROM (SELECT c1, c2, c3, c4, CASE WHEN (coalesce(len((coalesce(c10, CAST([] AS VARCHAR[])) || coalesce(c28, CAST([] AS VARCHAR[]))))::INTEGER, -1) > 0) THEN 'unknown' WHEN (coalesce(c7, (0)::BIGINT) > (0)::BIGINT) THEN 'not converged' ELSE 'converged' END AS c29, coalesce(c7, (0)::BIGINT) AS c30, (coalesce(c10, CAST([] AS VARCHAR[])) || coalesce(c28, CAST([] AS VARCHAR[]))) AS c31 FROM 
(SELECT c1, c2, c3, c4, c7, c10, c28 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c1, c2, c3, c4, c7, c10 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c1, c2, c3, c4, c7 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT "trace" AS c1, "folder" AS c2, "path" AS c3, "holders" AS c4 FROM "evidence/folders")) LEFT JOIN 
(SELECT * FROM 
(SELECT c5, c6, count(1) AS c7 FROM 
(SELECT "trace" AS c5, "folder" AS c6 FROM "gold/mismatches") GROUP BY c5, c6)) ON ((c1 = c5) AND (c2 = c6))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c8, list_sort(coalesce(list(DISTINCT c9) FILTER (WHERE c9 IS NOT NULL), []), 'ASC', 'NULLS LAST') AS c10 FROM 
(SELECT "trace" AS c8, "doubt" AS c9 FROM "evidence/doubts") GROUP BY c8)) ON (c1 = c8)))) LEFT JOIN 
(SELECT * FROM 
(SELECT c12, c13, list_sort(coalesce(list(DISTINCT concat_ws(' ', c11, c27)) FILTER (WHERE concat_ws(' ', c11, c27) IS NOT NULL), []), 'ASC', 'NULLS LAST') AS c28 FROM 
(SELECT c12, c11, c13, c27 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c12, c13, c11 FROM 
(SELECT * EXCLUDE (uc11), uc11 AS c11 FROM (SELECT *, unnest(c14) AS uc11 FROM 
(SELECT "trace" AS c12, "folder" AS c13, "holders" AS c14 FROM "evidence/folders"))))) JOIN 
(SELECT * FROM 
(SELECT c19, c23, 'is stopped' AS c27 FROM 
(SELECT c19, c23, c15, c16 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c19, c20 AS c23, arg_max_null(c18, c21) AS c17, arg_max_null(c22, c21) AS c15 FROM 
(SELECT "trace" AS c19, "node" AS c20, "type" AS c18, "seq" AS c21, "at" AS c22 FROM "silver/events") WHERE (c18 IN ('node.started', 'node.stopped')) GROUP BY c19, c20) WHERE (c17 = 'node.stopped')) JOIN 
(SELECT * FROM 
(SELECT c25, max(c26) AS c16 FROM 
(SELECT "trace" AS c25, "type" AS c24, "at" AS c26 FROM "silver/events") WHERE (c24 = 'run.ended') GROUP BY c25)) ON (c19 = c25))) WHERE (c15 < c16))) ON ((c12 = c19) AND (c11 = c23)))) GROUP BY c12, c13)) ON ((c1 = c12) AND (c2 = c13)))));

-- table evidence/restored
-- columns "trace" VARCHAR, "node" VARCHAR
SELECT c5 AS "trace", c26 AS "node" FROM (SELECT c5, c7 AS c26 FROM 
(SELECT c5, c7 FROM 
(SELECT c5, c7 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c5, c6 AS c7 FROM 
(SELECT c5, c6, c2, c1 FROM 
(SELECT "trace" AS c5, "node" AS c6, "type" AS c4, "seq" AS c2, "reason" AS c1, "family" AS c3 FROM "silver/events") WHERE ((c3 IN ('run')) AND (c4 IN ('node.started')))) WHERE ((NOT (c1 = 'restart')) AND (c2 > (1)::BIGINT)) GROUP BY c5, c6)) JOIN 
(SELECT * FROM 
(SELECT c10, c11 FROM 
(SELECT c10 AS c10, c11 AS c11 FROM 
(SELECT c10, c11 FROM 
(SELECT c10, c11 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c10, c11, c12 FROM 
(SELECT c10, c11, c12 FROM 
(SELECT "trace" AS c10, "type" AS c9, "store" AS c11, "backup" AS c12, "family" AS c8 FROM "silver/events") WHERE ((c8 IN ('run')) AND (c9 IN ('backup.restored')))))) JOIN 
(SELECT * FROM 
(SELECT c15, c16, c17 FROM 
(SELECT c15, c16, c17 FROM 
(SELECT "trace" AS c15, "type" AS c14, "store" AS c16, "backup" AS c17, "family" AS c13 FROM "silver/events") WHERE ((c13 IN ('run')) AND (c14 IN ('backup.made')))))) ON (((c10 = c15) AND (c11 = c16)) AND (c12 = c17)))))
UNION ALL SELECT c20 AS c10, c21 AS c11 FROM 
(SELECT c20, c21 FROM 
(SELECT c20, c21 FROM 
(SELECT c20, c21 FROM 
(SELECT "trace" AS c20, "type" AS c19, "store" AS c21, "family" AS c18 FROM "silver/events") WHERE ((c18 IN ('run')) AND (c19 IN ('store.created'))))))
UNION ALL SELECT c24 AS c10, c25 AS c11 FROM 
(SELECT c24, c25 FROM 
(SELECT c24, c25 FROM 
(SELECT c24, c25 FROM 
(SELECT "trace" AS c24, "type" AS c23, "store" AS c25, "family" AS c22 FROM "silver/events") WHERE ((c22 IN ('run')) AND (c23 IN ('backup.elsewhere'))))))) GROUP BY c10, c11)) ON ((c5 = c10) AND (c7 = c11))))));

-- table evidence/plain
-- columns "trace" VARCHAR, "node" VARCHAR
SELECT c1 AS "trace", c15 AS "node" FROM (SELECT c1, c2 AS c15 FROM 
(SELECT c1, c2 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT DISTINCT c1, c2 FROM 
(SELECT c1, c2 FROM 
(SELECT c1, c2, c3 FROM 
(SELECT * EXCLUDE (uc2), uc2.key AS c2, uc2.value AS c3 FROM (SELECT *, unnest(map_entries((c4)."servers")) AS uc2 FROM 
(SELECT c1, struct_from_json(c7, '"STRUCT(\"settings\" MAP(VARCHAR, VARCHAR), \"servers\" MAP(VARCHAR, STRUCT(\"version\" VARCHAR, \"settings\" MAP(VARCHAR, VARCHAR))))"') AS c4 FROM 
(SELECT c1, c7 FROM 
(SELECT "trace" AS c1, "type" AS c6, "topology" AS c7, "family" AS c5 FROM "silver/events") WHERE ((c5 IN ('run')) AND (c6 IN ('run.started', 'organization.changed'))))) WHERE (coalesce(coalesce(cardinality((c4)."settings")::INTEGER, -1), 0) <= 0)))) WHERE ((coalesce(coalesce(cardinality((c3)."settings")::INTEGER, -1), 0) <= 0) AND (NOT ((c3)."version" = '5.5')))))) ANTI JOIN 
(SELECT * FROM 
(SELECT DISTINCT c8, c9 FROM 
(SELECT c8, c14 AS c9 FROM 
(SELECT c8, c14, c10, c11 FROM 
(SELECT "trace" AS c8, "node" AS c14, "type" AS c13, "value" AS c10, "default" AS c11, "family" AS c12 FROM "silver/events") WHERE ((c12 IN ('run')) AND (c13 IN ('setting.value')))) WHERE (NOT (c10 = c11))))) ON ((c1 = c8) AND (c2 = c9)))));

-- table evidence/nodes
-- columns "trace" VARCHAR, "node" VARCHAR, "exact" BOOLEAN, "skews" STRUCT("since" BIGINT, "until" BIGINT)[], "hindered" STRUCT("since" BIGINT, "until" BIGINT)[], "gone" BOOLEAN, "rerouted" BOOLEAN, "altered" BOOLEAN, "relays" VARCHAR[], "sent_until" BIGINT, "undone_spans" STRUCT("after" BIGINT, "before" BIGINT)[]
SELECT c3 AS "trace", c4 AS "node", c142 AS "exact", c90 AS "skews", c81 AS "hindered", c143 AS "gone", c144 AS "rerouted", c145 AS "altered", c20 AS "relays", c146 AS "sent_until", c134 AS "undone_spans" FROM (SELECT c3, c4, coalesce((c12 AND (c28 IS NULL)), FALSE) AS c142, c90, c81, (c66 IS NOT NULL) AS c143, (c47 IS NOT NULL) AS c144, (c33 IS NOT NULL) AS c145, c20, CASE WHEN (((c42 IS NULL) AND (NOT c18)) AND (c6 <= c23)) THEN c23 END AS c146, c134 FROM 
(SELECT c3, c4, c6, c12, c18, c20, c23, c28, c33, c42, c47, c66, c81, c90, c134 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c3, c4, c6, c12, c18, c20, c23, c28, c33, c42, c47, c66, c81, c90 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c3, c4, c6, c12, c18, c20, c23, c28, c33, c42, c47, c66 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c3, c4, c6, c12, c18, c20, c23, c28, c33, c42, c47 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c3, c4, c6, c12, c18, c20, c23, c28, c33, c42 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c3, c4, c6, c12, c18, c20, c23, c28, c33 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c3, c4, c6, c12, c18, c20, c23, c28 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c3, c4, c6, c12, c18, c20, subtract_wrapped(c7, 86400000000::BIGINT) AS c23 FROM 
(SELECT c3, c4, c6, c7, c12, c18, c20 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c3, c4, c6, c7, c12 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c3, c4, max(CASE WHEN (c2 = 'node.started') THEN c5 END) AS c6, max(CASE WHEN (c2 = 'node.stopped') THEN c5 END) AS c7 FROM 
(SELECT "trace" AS c3, "node" AS c4, "type" AS c2, "at" AS c5, "family" AS c1 FROM "silver/events") WHERE ((c1 IN ('run')) AND (c2 IN ('node.started', 'node.stopped'))) GROUP BY c3, c4)) LEFT JOIN 
(SELECT * FROM 
(SELECT c10, coalesce((map_extract_value(c11, 'driver') IN ('simulator', 'live')), FALSE) AS c12 FROM 
(SELECT "trace" AS c10, "type" AS c9, "settings" AS c11, "family" AS c8 FROM "silver/events") WHERE ((c8 IN ('run')) AND (c9 IN ('run.started'))))) ON (c3 = c10)))) LEFT JOIN 
(SELECT * FROM 
(SELECT c15, max(list_any(list_transform(coalesce((c17)."connectors", CAST([] AS STRUCT("name" VARCHAR, "schedule" VARCHAR, "latency" VARCHAR, "bandwidth" VARCHAR, "relay" VARCHAR)[])), lambda v19: coalesce(((((v19)."bandwidth" IS NOT NULL) OR ((v19)."latency" LIKE '% d' ESCAPE '\')) OR (NOT regexp_matches((v19)."schedule", '^(always|every [0-9]+ (s|min|h))(?:\r\n|[\n\r\x{85}\x{2028}\x{2029}])?\z'))), FALSE)))) AS c18, flatten(coalesce(list(DISTINCT list_transform(list_filter(coalesce((c17)."connectors", CAST([] AS STRUCT("name" VARCHAR, "schedule" VARCHAR, "latency" VARCHAR, "bandwidth" VARCHAR, "relay" VARCHAR)[])), lambda v22: ((v22)."relay" IS NOT NULL)), lambda v21: (v21)."name")) FILTER (WHERE list_transform(list_filter(coalesce((c17)."connectors", CAST([] AS STRUCT("name" VARCHAR, "schedule" VARCHAR, "latency" VARCHAR, "bandwidth" VARCHAR, "relay" VARCHAR)[])), lambda v22: ((v22)."relay" IS NOT NULL)), lambda v21: (v21)."name") IS NOT NULL), [])) AS c20 FROM 
(SELECT c15, struct_from_json(c16, '"STRUCT(\"connectors\" STRUCT(\"name\" VARCHAR, \"schedule\" VARCHAR, \"latency\" VARCHAR, \"bandwidth\" VARCHAR, \"relay\" VARCHAR)[])"') AS c17 FROM 
(SELECT c15, c16 FROM 
(SELECT "trace" AS c15, "type" AS c14, "topology" AS c16, "family" AS c13 FROM "silver/events") WHERE ((c13 IN ('run')) AND (c14 IN ('run.started', 'organization.changed'))))) GROUP BY c15)) ON (c3 = c15))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c24, TRUE AS c28 FROM 
(SELECT DISTINCT c24 FROM 
(SELECT c24 FROM 
(SELECT c24, c25 FROM 
(SELECT "trace" AS c24, "type" AS c27, "rate" AS c25, "family" AS c26 FROM "silver/events") WHERE ((c26 IN ('run')) AND (c27 IN ('clock.changed')))) WHERE (c25 > (60)::DOUBLE))))) ON (c3 = c24)))) LEFT JOIN 
(SELECT * FROM 
(SELECT c29, TRUE AS c33 FROM 
(SELECT DISTINCT c29 FROM 
(SELECT c29 FROM 
(SELECT c29, c30 FROM 
(SELECT "trace" AS c29, "type" AS c32, "kind" AS c30, "family" AS c31 FROM "silver/events") WHERE ((c31 IN ('run')) AND (c32 IN ('fault.injected')))) WHERE (c30 = 'alter'))))) ON (c3 = c29)))) LEFT JOIN 
(SELECT * FROM 
(SELECT c34, TRUE AS c42 FROM 
(SELECT DISTINCT c34 FROM 
(SELECT c34 AS c34 FROM 
(SELECT c34 FROM 
(SELECT c34, c35 FROM 
(SELECT "trace" AS c34, "type" AS c37, "kind" AS c35, "family" AS c36 FROM "silver/events") WHERE ((c36 IN ('run')) AND (c37 IN ('fault.injected')))) WHERE (c35 IN ('delay', 'hold', 'reorder')))
UNION ALL SELECT c41 AS c34 FROM 
(SELECT c41 FROM 
(SELECT c41 FROM 
(SELECT c41, c38 FROM 
(SELECT "trace" AS c41, "type" AS c40, "change" AS c38, "family" AS c39 FROM "silver/events") WHERE ((c39 IN ('run')) AND (c40 IN ('organization.changed')))) WHERE (c38 = 'removed'))))))) ON (c3 = c34)))) LEFT JOIN 
(SELECT * FROM 
(SELECT c43, c44, TRUE AS c47 FROM 
(SELECT DISTINCT c43, c44 FROM 
(SELECT c43, c44 FROM 
(SELECT "trace" AS c43, "node" AS c44, "type" AS c46, "family" AS c45 FROM "silver/events") WHERE ((c45 IN ('mail', 'run')) AND (c46 IN ('link.down', 'link.up', 'organization.read'))))))) ON ((c3 = c43) AND (c4 = c44))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c52, c65, TRUE AS c66 FROM 
(SELECT c52, c53 AS c65 FROM 
(SELECT c52, c53 FROM 
(SELECT c52, c53, c48, c49 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c52, c53, max(coalesce(c54, (0)::BIGINT)) AS c48 FROM 
(SELECT c52 AS c52, c53 AS c53, c54 AS c54 FROM 
(SELECT c52, c53, c54 FROM 
(SELECT c52, c53, c54 FROM 
(SELECT "trace" AS c52, "type" AS c51, "store" AS c53, "directory_object" AS c54, "family" AS c50 FROM "silver/events") WHERE ((c50 IN ('replication')) AND (c51 IN ('store.deleted')))))
UNION ALL SELECT c57 AS c52, c58 AS c53, c59 AS c54 FROM 
(SELECT c57, c58, c59 FROM 
(SELECT c57, c58, c59 FROM 
(SELECT c57, c58, c59 FROM 
(SELECT "trace" AS c57, "type" AS c56, "store" AS c58, "directory_object" AS c59, "family" AS c55 FROM "silver/events") WHERE ((c55 IN ('run')) AND (c56 IN ('backup.elsewhere'))))))) GROUP BY c52, c53)) LEFT JOIN 
(SELECT * FROM 
(SELECT c62, c63, max(c64) AS c49 FROM 
(SELECT c62, c63, c64 FROM 
(SELECT "trace" AS c62, "type" AS c61, "store" AS c63, "directory_object" AS c64, "family" AS c60 FROM "silver/events") WHERE ((c60 IN ('run')) AND (c61 IN ('store.created')))) GROUP BY c62, c63)) ON ((c52 = c62) AND (c53 = c63)))) WHERE (c48 >= coalesce(c49, (0)::BIGINT)))))) ON ((c3 = c52) AND (c4 = c65))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c70, map_extract_value(c73, 'server') AS c80, coalesce(list(DISTINCT {'since': coalesce(subtract_wrapped(c71, CASE WHEN (c67 = 'skew') THEN list_reduce(list_transform(CASE WHEN regexp_matches(map_extract_value(c73, 'by'), '^-?[0-9]+ (us|ms|s|min|h|d)( [0-9]+ (us|ms|s|min|h|d))*(?:\r\n|[\n\r\x{85}\x{2028}\x{2029}])?\z') THEN regexp_extract_all(map_extract_value(c73, 'by'), '[0-9]+ (us|ms|s|min|h|d)', 0) END, lambda v84: multiply_wrapped(text_to_bigint(split_part(v84, ' ', 1)), map_extract_value(MAP {'us': (1)::BIGINT, 'ms': (1000)::BIGINT, 's': (1000000)::BIGINT, 'min': (60000000)::BIGINT, 'h': 3600000000::BIGINT, 'd': 86400000000::BIGINT}, split_part(v84, ' ', 2)))), lambda v82, v83: add_wrapped(v82, v83), CAST((0)::BIGINT AS BIGINT)) ELSE (0)::BIGINT END), (0)::BIGINT), 'until': coalesce(add_wrapped(c79, CASE WHEN (c67 = 'skew') THEN list_reduce(list_transform(CASE WHEN regexp_matches(map_extract_value(c73, 'by'), '^-?[0-9]+ (us|ms|s|min|h|d)( [0-9]+ (us|ms|s|min|h|d))*(?:\r\n|[\n\r\x{85}\x{2028}\x{2029}])?\z') THEN regexp_extract_all(map_extract_value(c73, 'by'), '[0-9]+ (us|ms|s|min|h|d)', 0) END, lambda v88: multiply_wrapped(text_to_bigint(split_part(v88, ' ', 1)), map_extract_value(MAP {'us': (1)::BIGINT, 'ms': (1000)::BIGINT, 's': (1000000)::BIGINT, 'min': (60000000)::BIGINT, 'h': 3600000000::BIGINT, 'd': 86400000000::BIGINT}, split_part(v88, ' ', 2)))), lambda v86, v87: add_wrapped(v86, v87), CAST((0)::BIGINT AS BIGINT)) ELSE (0)::BIGINT END), 4611686018427387904::BIGINT)}), []) AS c81, coalesce(list(DISTINCT CASE WHEN (c67 = 'skew') THEN {'since': coalesce(subtract_wrapped(c71, CASE WHEN (c67 = 'skew') THEN list_reduce(list_transform(CASE WHEN regexp_matches(map_extract_value(c73, 'by'), '^-?[0-9]+ (us|ms|s|min|h|d)( [0-9]+ (us|ms|s|min|h|d))*(?:\r\n|[\n\r\x{85}\x{2028}\x{2029}])?\z') THEN regexp_extract_all(map_extract_value(c73, 'by'), '[0-9]+ (us|ms|s|min|h|d)', 0) END, lambda v93: multiply_wrapped(text_to_bigint(split_part(v93, ' ', 1)), map_extract_value(MAP {'us': (1)::BIGINT, 'ms': (1000)::BIGINT, 's': (1000000)::BIGINT, 'min': (60000000)::BIGINT, 'h': 3600000000::BIGINT, 'd': 86400000000::BIGINT}, split_part(v93, ' ', 2)))), lambda v91, v92: add_wrapped(v91, v92), CAST((0)::BIGINT AS BIGINT)) ELSE (0)::BIGINT END), (0)::BIGINT), 'until': coalesce(add_wrapped(c79, CASE WHEN (c67 = 'skew') THEN list_reduce(list_transform(CASE WHEN regexp_matches(map_extract_value(c73, 'by'), '^-?[0-9]+ (us|ms|s|min|h|d)( [0-9]+ (us|ms|s|min|h|d))*(?:\r\n|[\n\r\x{85}\x{2028}\x{2029}])?\z') THEN regexp_extract_all(map_extract_value(c73, 'by'), '[0-9]+ (us|ms|s|min|h|d)', 0) END, lambda v97: multiply_wrapped(text_to_bigint(split_part(v97, ' ', 1)), map_extract_value(MAP {'us': (1)::BIGINT, 'ms': (1000)::BIGINT, 's': (1000000)::BIGINT, 'min': (60000000)::BIGINT, 'h': 3600000000::BIGINT, 'd': 86400000000::BIGINT}, split_part(v97, ' ', 2)))), lambda v95, v96: add_wrapped(v95, v96), CAST((0)::BIGINT AS BIGINT)) ELSE (0)::BIGINT END), 4611686018427387904::BIGINT)} END) FILTER (WHERE CASE WHEN (c67 = 'skew') THEN {'since': coalesce(subtract_wrapped(c71, CASE WHEN (c67 = 'skew') THEN list_reduce(list_transform(CASE WHEN regexp_matches(map_extract_value(c73, 'by'), '^-?[0-9]+ (us|ms|s|min|h|d)( [0-9]+ (us|ms|s|min|h|d))*(?:\r\n|[\n\r\x{85}\x{2028}\x{2029}])?\z') THEN regexp_extract_all(map_extract_value(c73, 'by'), '[0-9]+ (us|ms|s|min|h|d)', 0) END, lambda v93: multiply_wrapped(text_to_bigint(split_part(v93, ' ', 1)), map_extract_value(MAP {'us': (1)::BIGINT, 'ms': (1000)::BIGINT, 's': (1000000)::BIGINT, 'min': (60000000)::BIGINT, 'h': 3600000000::BIGINT, 'd': 86400000000::BIGINT}, split_part(v93, ' ', 2)))), lambda v91, v92: add_wrapped(v91, v92), CAST((0)::BIGINT AS BIGINT)) ELSE (0)::BIGINT END), (0)::BIGINT), 'until': coalesce(add_wrapped(c79, CASE WHEN (c67 = 'skew') THEN list_reduce(list_transform(CASE WHEN regexp_matches(map_extract_value(c73, 'by'), '^-?[0-9]+ (us|ms|s|min|h|d)( [0-9]+ (us|ms|s|min|h|d))*(?:\r\n|[\n\r\x{85}\x{2028}\x{2029}])?\z') THEN regexp_extract_all(map_extract_value(c73, 'by'), '[0-9]+ (us|ms|s|min|h|d)', 0) END, lambda v97: multiply_wrapped(text_to_bigint(split_part(v97, ' ', 1)), map_extract_value(MAP {'us': (1)::BIGINT, 'ms': (1000)::BIGINT, 's': (1000000)::BIGINT, 'min': (60000000)::BIGINT, 'h': 3600000000::BIGINT, 'd': 86400000000::BIGINT}, split_part(v97, ' ', 2)))), lambda v95, v96: add_wrapped(v95, v96), CAST((0)::BIGINT AS BIGINT)) ELSE (0)::BIGINT END), 4611686018427387904::BIGINT)} END IS NOT NULL), []) AS c90 FROM 
(SELECT c70, c71, c67, c73, c79 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c70, c71, c72, c67, c73 FROM 
(SELECT "trace" AS c70, "type" AS c69, "at" AS c71, "fault" AS c72, "kind" AS c67, "details" AS c73, "family" AS c68 FROM "silver/events") WHERE ((c68 IN ('run')) AND (c69 IN ('fault.injected')))) WHERE (c67 IN ('stall', 'skew'))) LEFT JOIN 
(SELECT * FROM 
(SELECT c76, c78, add_wrapped(max(c77), (900000000)::BIGINT) AS c79 FROM 
(SELECT c76, c77, c78 FROM 
(SELECT "trace" AS c76, "type" AS c75, "at" AS c77, "fault" AS c78, "family" AS c74 FROM "silver/events") WHERE ((c74 IN ('run')) AND (c75 IN ('fault.healed')))) GROUP BY c76, c78)) ON ((c70 = c76) AND (c72 = c78)))) GROUP BY c70, map_extract_value(c73, 'server'))) ON ((c3 = c70) AND (c4 = c80))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c103, c105 AS c141, c134 FROM 
(SELECT c103, c105, list_reduce(list_reverse(list_transform(lists_zipped(c106, c132), lambda pv137: {'after': CASE WHEN ((pv137[1])."reason" = 'restored') THEN (pv137[2])."through" ELSE ((-1))::BIGINT END, 'before': (pv137[1])."seq"})), lambda v135, v136: CASE WHEN list_any(list_transform(v135, lambda v139: (((v136)."before" > (v139)."after") AND ((v136)."before" < (v139)."before")))) THEN v135 ELSE (v135 || [{'after': (v136)."after", 'before': (v136)."before"}]) END, CAST(CAST([] AS STRUCT("after" BIGINT, "before" BIGINT)[]) AS STRUCT("after" BIGINT, "before" BIGINT)[])) AS c134 FROM 
(SELECT c103, c105, c106, c132 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c103, c104 AS c105, list_transform(list_sort(list_transform(coalesce(list({'seq': c100, 'reason': c99}), []), lambda v107: {k: CASE WHEN v107 IS NOT NULL THEN {n0: (v107)."seq" IS NOT NULL, v0: (v107)."seq", n1: (v107)."reason" IS NOT NULL, v1: (v107)."reason"} END, v: v107}), 'ASC', 'NULLS LAST'), lambda v107: v107.v) AS c106 FROM 
(SELECT c103, c104, c100, c99 FROM 
(SELECT "trace" AS c103, "node" AS c104, "type" AS c102, "seq" AS c100, "reason" AS c99, "family" AS c101 FROM "silver/events") WHERE ((c101 IN ('run')) AND (c102 IN ('node.started')))) WHERE ((NOT (c99 = 'restart')) AND (c100 > (1)::BIGINT)) GROUP BY c103, c104)) JOIN 
(SELECT * FROM 
(SELECT c110, c112, list_transform(list_sort(list_transform(coalesce(list({'seq': c111, 'through': c119}), []), lambda v133: {k: CASE WHEN v133 IS NOT NULL THEN {n0: (v133)."seq" IS NOT NULL, v0: (v133)."seq", n1: (v133)."through" IS NOT NULL, v1: (v133)."through"} END, v: v133}), 'ASC', 'NULLS LAST'), lambda v133: v133.v) AS c132 FROM 
(SELECT c110 AS c110, c112 AS c112, c111 AS c111, c119 AS c119 FROM 
(SELECT c110, c112, c111, c119 FROM 
(SELECT c110, c112, c111, c119 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c110, c112, c113, c111 FROM 
(SELECT c110, c111, c112, c113 FROM 
(SELECT "trace" AS c110, "type" AS c109, "seq" AS c111, "store" AS c112, "backup" AS c113, "family" AS c108 FROM "silver/events") WHERE ((c108 IN ('run')) AND (c109 IN ('backup.restored')))))) JOIN 
(SELECT * FROM 
(SELECT c116, c117, c118, c119 FROM 
(SELECT c116, c117, c118, c119 FROM 
(SELECT "trace" AS c116, "type" AS c115, "store" AS c117, "backup" AS c118, "through" AS c119, "family" AS c114 FROM "silver/events") WHERE ((c114 IN ('run')) AND (c115 IN ('backup.made')))))) ON (((c110 = c116) AND (c112 = c117)) AND (c113 = c118)))))
UNION ALL SELECT c122 AS c110, c124 AS c112, c123 AS c111, c125 AS c119 FROM 
(SELECT c122, c124, c123, c125 FROM 
(SELECT c122, c124, c123, ((-1))::BIGINT AS c125 FROM 
(SELECT c122, c123, c124 FROM 
(SELECT "trace" AS c122, "type" AS c121, "seq" AS c123, "store" AS c124, "family" AS c120 FROM "silver/events") WHERE ((c120 IN ('run')) AND (c121 IN ('store.created'))))))
UNION ALL SELECT c128 AS c110, c130 AS c112, c129 AS c111, c131 AS c119 FROM 
(SELECT c128, c130, c129, c131 FROM 
(SELECT c128, c130, c129, ((-1))::BIGINT AS c131 FROM 
(SELECT c128, c129, c130 FROM 
(SELECT "trace" AS c128, "type" AS c127, "seq" AS c129, "store" AS c130, "family" AS c126 FROM "silver/events") WHERE ((c126 IN ('run')) AND (c127 IN ('backup.elsewhere'))))))) GROUP BY c110, c112)) ON ((c103 = c110) AND (c105 = c112))))))) ON ((c3 = c103) AND (c4 = c141)))));

-- table evidence/candidates
-- columns "trace" VARCHAR, "node" VARCHAR, "store" VARCHAR, "seq" BIGINT, "at" BIGINT, "folder" VARCHAR, "entry" BIGINT, "method" VARCHAR, "what" VARCHAR, "place" INTEGER, "stated" STRUCT("store" VARCHAR, "down" BOOLEAN, "preferred" BOOLEAN, "cost" BIGINT, "version" VARCHAR, "has" BIGINT, "passed_over" VARCHAR, "site" VARCHAR, "near" BOOLEAN, "group" BIGINT, "has_all" BOOLEAN, "affinity" BIGINT, "transit_us" BIGINT, "backfilled_at" BIGINT, "guid" VARCHAR, "active" BOOLEAN, "added_at" BIGINT, "leaving" BOOLEAN), "expired" STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[], "listed_seq" BIGINT, "prefers" VARCHAR, "down" BOOLEAN, "asked_at" BIGINT, "transit" BIGINT, "leaving" BOOLEAN, "stale" BOOLEAN, "row" STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[], "unsure" BOOLEAN, "claim" STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[], "cost" BIGINT, "affinity" BIGINT, "version" VARCHAR, "site" VARCHAR, "preferred" BOOLEAN
SELECT c8 AS "trace", c9 AS "node", c16 AS "store", c10 AS "seq", c11 AS "at", c12 AS "folder", c13 AS "entry", c15 AS "method", c1 AS "what", c4 AS "place", c5 AS "stated", c503 AS "expired", c495 AS "listed_seq", c492 AS "prefers", c497 AS "down", c498 AS "asked_at", c499 AS "transit", c504 AS "leaving", c506 AS "stale", c507 AS "row", c508 AS "unsure", c510 AS "claim", c517 AS "cost", c518 AS "affinity", c522 AS "version", c2 AS "site", c527 AS "preferred" FROM (SELECT c8, c9, c16, c10, c11, c12, c13, c15, c1, c4, c5, c503, c495, c492, c497, c498, c499, c504, c506, c507, c508, c510, c517, c518, c522, c2, coalesce((c16 = c492), FALSE) AS c527 FROM 
(SELECT c8, c9, c16, c10, c11, c12, c13, c15, c1, c4, c5, c503, c495, c492, c497, c498, c499, c504, c506, c507, c508, c510, c517, c518, c522, c2 FROM 
(SELECT c8, c9, c16, c10, c11, c12, c13, c15, c1, c4, c5, c503, c495, c492, c497, c498, c499, c504, c506, c507, c508, c510, c517, c518, c522, c2, c3 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c8, c16, c9, c10, c11, c12, c13, c15, c1, c4, c5, c503, c495, c492, c497, c498, c499, c504, c506, c507, c508, c510, c517, c518, c522, c2 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c8, c494, c9, c16, c10, c11, c12, c13, c15, c1, c4, c5, c503, c495, c492, c497, c498, c499, c504, c506, c507, c508, c510, c517, c518 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c8, c9, c10, c11, c12, c13, c15, c1, c4, c5, c16, c503, c495, c492, c494, c497, c498, c499, c504, c506, c507, c508, c510 FROM 
(SELECT c8, c9, c10, c11, c12, c13, c15, c1, c4, c5, c16, c503, c495, c492, c494, c497, c498, c499, c504, c506, c507, c508, CASE WHEN (NOT coalesce(((list_extract(list_transform(list_sort(list_transform(list_known([c500, c501]), lambda v511: {k: CASE WHEN v511 IS NOT NULL THEN {n0: (v511)."seq" IS NOT NULL, v0: (v511)."seq", n1: (v511)."row" IS NOT NULL, v1: list_transform((v511)."row", lambda v511row_item: CASE WHEN v511row_item IS NOT NULL THEN {n0: (v511row_item)."guid" IS NOT NULL, v0: (v511row_item)."guid", n1: (v511row_item)."low" IS NOT NULL, v1: (v511row_item)."low", n2: (v511row_item)."high" IS NOT NULL, v2: (v511row_item)."high"} END)} END, v: v511}), 'ASC', 'NULLS LAST'), lambda v511: v511.v), -1))."seq" < c495), FALSE)) THEN (list_extract(list_transform(list_sort(list_transform(list_known([c500, c501]), lambda v512: {k: CASE WHEN v512 IS NOT NULL THEN {n0: (v512)."seq" IS NOT NULL, v0: (v512)."seq", n1: (v512)."row" IS NOT NULL, v1: list_transform((v512)."row", lambda v512row_item: CASE WHEN v512row_item IS NOT NULL THEN {n0: (v512row_item)."guid" IS NOT NULL, v0: (v512row_item)."guid", n1: (v512row_item)."low" IS NOT NULL, v1: (v512row_item)."low", n2: (v512row_item)."high" IS NOT NULL, v2: (v512row_item)."high"} END)} END, v: v512}), 'ASC', 'NULLS LAST'), lambda v512: v512.v), -1))."row" END AS c510 FROM 
(SELECT c8, c9, c10, c11, c12, c13, c15, c1, c4, c5, c16, c500, c503, c501, c495, c492, c494, c497, c498, c499, c504, c506, c507, coalesce(((list_extract(list_transform(list_sort(list_transform(list_known([c500, c501]), lambda v509: {k: CASE WHEN v509 IS NOT NULL THEN {n0: (v509)."seq" IS NOT NULL, v0: (v509)."seq", n1: (v509)."row" IS NOT NULL, v1: list_transform((v509)."row", lambda v509row_item: CASE WHEN v509row_item IS NOT NULL THEN {n0: (v509row_item)."guid" IS NOT NULL, v0: (v509row_item)."guid", n1: (v509row_item)."low" IS NOT NULL, v1: (v509row_item)."low", n2: (v509row_item)."high" IS NOT NULL, v2: (v509row_item)."high"} END)} END, v: v509}), 'ASC', 'NULLS LAST'), lambda v509: v509.v), -1))."seq" < c495), FALSE) AS c508 FROM 
(SELECT c8, c9, c10, c11, c12, c13, c15, c1, c4, c5, c16, c500, c503, c501, c495, c492, c494, c497, c498, c499, c504, c506, CASE WHEN (NOT coalesce(((c500)."seq" < c495), FALSE)) THEN (c500)."row" END AS c507 FROM 
(SELECT c8, c9, c10, c11, c12, c13, c15, c1, c4, c5, c16, c500, c503, c501, c495, c492, c494, c497, c498, c499, c504, coalesce(((c500)."seq" < c495), FALSE) AS c506 FROM 
(SELECT c8, c9, c10, c11, c12, c13, c15, c1, c4, c5, c16, c500, c503, c501, c495, c492, c494, c497, c498, c499, (((c501)."seq" IS NOT NULL) AND ((list_extract(list_transform(list_sort(list_transform(list_known([c500, c501]), lambda v505: {k: CASE WHEN v505 IS NOT NULL THEN {n0: (v505)."seq" IS NOT NULL, v0: (v505)."seq", n1: (v505)."row" IS NOT NULL, v1: list_transform((v505)."row", lambda v505row_item: CASE WHEN v505row_item IS NOT NULL THEN {n0: (v505row_item)."guid" IS NOT NULL, v0: (v505row_item)."guid", n1: (v505row_item)."low" IS NOT NULL, v1: (v505row_item)."low", n2: (v505row_item)."high" IS NOT NULL, v2: (v505row_item)."high"} END)} END, v: v505}), 'ASC', 'NULLS LAST'), lambda v505: v505.v), -1))."seq" = (c501)."seq")) AS c504 FROM 
(SELECT c8, c9, c10, c11, c12, c13, c15, c1, c4, c5, c16, c500, c503, c501, c495, c492, c494, c497, c498, c499 FROM 
(SELECT c8, c9, c10, c11, c12, c13, c15, c1, c4, c5, c16, c500, c501, c495, c492, c494, c497, c498, c499, flatten(c502) AS c503 FROM 
(SELECT *, coalesce(list(c42) FILTER (WHERE c42 IS NOT NULL) OVER (PARTITION BY c8, c9, c16, c490, c12 ORDER BY c10 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), []) AS c502 FROM 
(SELECT c8, c9, c10, c11, c12, c13, c15, c1, c4, c5, c16, c500, c501, c495, c492, c494, c490, c497, c498, c499, c42 FROM 
(SELECT c8, c9, c10, c11, c12, c13, c15, c1, c4, c5, c16, c500, c42, c501, c495, c492, c494, c490, c497, c498, c499 FROM 
(SELECT c8, c9, c10, c11, c12, c13, c15, c1, c4, c5, c16, c500, c42, c495, c492, c494, c490, c497, c498, c499, c501, c501 FROM 
(SELECT *, last_value(c43 IGNORE NULLS) OVER (PARTITION BY c8, c9, c16, c490, c12 ORDER BY c10 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS c501 FROM 
(SELECT c8, c9, c10, c11, c12, c13, c15, c1, c4, c5, c16, c500, c42, c495, c492, c494, c490, c497, c498, c499, c43 FROM 
(SELECT c8, c9, c10, c11, c12, c13, c15, c1, c4, c5, c16, c500, c42, c43, c495, c492, c494, c490, c497, c498, c499 FROM 
(SELECT c8, c9, c10, c11, c12, c13, c15, c1, c4, c5, c16, c42, c43, c495, c492, c494, c490, c497, c498, c499, c500, c500 FROM 
(SELECT *, last_value(c38 IGNORE NULLS) OVER (PARTITION BY c8, c9, c16, c490, c12 ORDER BY c10 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS c500 FROM 
(SELECT c8, c9, c10, c11, c12, c13, c15, c1, c4, c5, c16, c42, c43, c495, c492, c494, c490, c497, c498, c499, c38 FROM 
(SELECT c8, c9, c10, c11, c12, c13, c15, c1, c4, c5, c16, c38, c42, c43, c495, c492, c494, c490, c497, c498, c499 FROM 
(SELECT c8, c9, c10, c11, c12, c13, c15, c1, c4, c5, c16, c38, c42, c43, c495, c492, c494, c490, c497, c498, c499 FROM 
(SELECT c8, c9, c10, c11, c12, c13, c15, c1, c4, c5, c16, c38, c42, c43, c495, c492, c494, c490, c497, c498, c499, c499 FROM 
(SELECT *, last_value(c40 IGNORE NULLS) OVER (PARTITION BY c8, c9, c16, c490 ORDER BY c10 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS c499 FROM 
(SELECT c8, c9, c10, c11, c12, c13, c15, c1, c4, c5, c16, c38, c40, c42, c43, c495, c492, c494, c490, c497, c498 FROM 
(SELECT c8, c9, c10, c11, c12, c13, c15, c1, c4, c5, c16, c38, c40, c42, c43, c495, c492, c494, c490, c497, c498 FROM 
(SELECT c8, c9, c10, c11, c12, c13, c15, c1, c4, c5, c16, c38, c40, c42, c43, c495, c492, c494, c490, c497, c498 FROM 
(SELECT c8, c9, c10, c11, c12, c13, c15, c1, c4, c5, c16, c38, c40, c42, c43, c495, c492, c494, c490, c497, c498, c498 FROM 
(SELECT *, last_value(c41 IGNORE NULLS) OVER (PARTITION BY c8, c9, c16, c490 ORDER BY c10 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS c498 FROM 
(SELECT c8, c9, c10, c11, c12, c13, c15, c1, c4, c5, c16, c38, c40, c41, c42, c43, c495, c492, c494, c490, c497 FROM 
(SELECT c8, c9, c10, c11, c12, c13, c15, c1, c4, c5, c16, c38, c40, c41, c42, c43, c495, c492, c494, c490, c497 FROM 
(SELECT c8, c9, c10, c11, c12, c13, c15, c1, c4, c5, c16, c38, c40, c41, c42, c43, c495, c492, c494, c490, coalesce(c496, FALSE) AS c497 FROM 
(SELECT *, last_value(c39 IGNORE NULLS) OVER (PARTITION BY c8, c9, c16, c490 ORDER BY c10 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS c496 FROM 
(SELECT c8, c9, c10, c11, c12, c13, c15, c1, c4, c5, c16, c38, c39, c40, c41, c42, c43, c495, c492, c494, c490 FROM 
(SELECT c8, c9, c10, c11, c12, c13, c15, c1, c4, c5, c16, c38, c39, c40, c41, c42, c43, c495, c492, c494, c490 FROM 
(SELECT c8, c9, c10, c11, c12, c13, c15, c1, c4, c5, c16, c38, c39, c40, c41, c42, c43, c492, c494, c490, c495, c495 FROM 
(SELECT *, last_value(c388 IGNORE NULLS) OVER (PARTITION BY c8, c9, c12 ORDER BY c10 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS c495 FROM 
(SELECT c8, c9, c10, c11, c12, c13, c15, c1, c4, c5, c16, c38, c39, c40, c41, c42, c43, c492, c494, c490, c388 FROM 
(SELECT c8, c9, c10, c11, c12, c13, c15, c1, c4, c5, c16, c38, c39, c40, c41, c42, c43, c388, c492, c494, c490 FROM 
(SELECT c8, c9, c10, c11, c12, c13, c15, c1, c4, c5, c16, c38, c39, c40, c41, c42, c43, c388, c492, c490, coalesce(c493, (0)::BIGINT) AS c494 FROM 
(SELECT *, last_value(c466 IGNORE NULLS) OVER (PARTITION BY c8, c9 ORDER BY c10 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS c493 FROM 
(SELECT c8, c9, c10, c11, c12, c13, c15, c1, c4, c5, c16, c38, c39, c40, c41, c42, c43, c388, c492, c490, c466 FROM 
(SELECT c8, c9, c10, c11, c12, c13, c15, c1, c4, c5, c16, c38, c39, c40, c41, c42, c43, c388, c492, c466, c490 FROM 
(SELECT c8, c9, c10, c11, c12, c13, c15, c1, c4, c5, c16, c38, c39, c40, c41, c42, c43, c388, c466, c490, (c491)."store" AS c492 FROM 
(SELECT *, last_value(c434 IGNORE NULLS) OVER (PARTITION BY c8, c9 ORDER BY c10 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS c491 FROM 
(SELECT c8, c9, c10, c11, c12, c13, c15, c1, c4, c5, c16, c38, c39, c40, c41, c42, c43, c388, c466, c490, c434 FROM 
(SELECT c8, c9, c10, c11, c12, c13, c15, c1, c4, c5, c16, c38, c39, c40, c41, c42, c43, c388, c434, c466, c490 FROM 
(SELECT c8, c9, c10, c11, c12, c13, c15, c1, c4, c5, c16, c38, c39, c40, c41, c42, c43, c388, c434, c466, c490, c490 FROM 
(SELECT *, count(c44) OVER (PARTITION BY c8, c9, c16 ORDER BY c10 ASC NULLS FIRST RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS c490 FROM 
(SELECT c8, c9, c10, c11, c12, c13, c15, c1, c4, c5, c16, c38, c39, c40, c41, c42, c43, c44, c388, c434, c466 FROM 
(SELECT c8 AS c8, c9 AS c9, c10 AS c10, c11 AS c11, c12 AS c12, c13 AS c13, c15 AS c15, c1 AS c1, c4 AS c4, c5 AS c5, c16 AS c16, c38 AS c38, c39 AS c39, c40 AS c40, c41 AS c41, c42 AS c42, c43 AS c43, c44 AS c44, c388 AS c388, c434 AS c434, c466 AS c466 FROM 
(SELECT c8, c9, c10, c11, c12, c13, c15, c1, c4, c5, c16, c38, c39, c40, c41, c42, c43, c44, c388, c434, CAST(NULL AS BIGINT) AS c466 FROM 
(SELECT c8 AS c8, c9 AS c9, c10 AS c10, c11 AS c11, c12 AS c12, c13 AS c13, c15 AS c15, c1 AS c1, c4 AS c4, c5 AS c5, c16 AS c16, c38 AS c38, c39 AS c39, c40 AS c40, c41 AS c41, c42 AS c42, c43 AS c43, c44 AS c44, c388 AS c388, c434 AS c434 FROM 
(SELECT c8, c9, c10, c11, c12, c13, c15, c1, c4, c5, c16, c38, c39, c40, c41, c42, c43, c44, c388, CAST(NULL AS STRUCT("store" VARCHAR)) AS c434 FROM 
(SELECT c8 AS c8, c9 AS c9, c10 AS c10, c11 AS c11, c12 AS c12, c13 AS c13, c15 AS c15, c1 AS c1, c4 AS c4, c5 AS c5, c16 AS c16, c38 AS c38, c39 AS c39, c40 AS c40, c41 AS c41, c42 AS c42, c43 AS c43, c44 AS c44, c388 AS c388 FROM 
(SELECT c8, c9, c10, c11, c12, c13, c15, c1, c4, c5, c16, c38, c39, c40, c41, c42, c43, c44, CAST(NULL AS BIGINT) AS c388 FROM 
(SELECT c8 AS c8, c9 AS c9, c10 AS c10, c11 AS c11, c12 AS c12, c13 AS c13, c15 AS c15, c1 AS c1, c4 AS c4, c5 AS c5, c16 AS c16, c38 AS c38, c39 AS c39, c40 AS c40, c41 AS c41, c42 AS c42, c43 AS c43, c44 AS c44 FROM 
(SELECT c8, c9, c10, c11, c12, c13, c15, c1, c4, c5, c16, CAST(NULL AS STRUCT("seq" BIGINT, "row" STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[])) AS c38, CAST(NULL AS BOOLEAN) AS c39, CAST(NULL AS BIGINT) AS c40, CAST(NULL AS BIGINT) AS c41, CAST(NULL AS STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[]) AS c42, CAST(NULL AS STRUCT("seq" BIGINT, "row" STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[])) AS c43, CAST(NULL AS BOOLEAN) AS c44 FROM 
(SELECT c8, c9, c10, c11, c12, c13, c15, c1, c4, c5, c16 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c8 AS c8, c9 AS c9, c10 AS c10, c11 AS c11, c12 AS c12, c13 AS c13, c15 AS c15, c1 AS c1, c4 AS c4, c5 AS c5, c16 AS c16 FROM 
(SELECT c8, c9, c10, c11, c12, c13, c15, c1, c4, c5, (c5)."store" AS c16 FROM 
(SELECT c8, c9, c10, c11, c12, c13, c15, 'choice' AS c1, c4, c5 FROM 
(SELECT * EXCLUDE (uc4), uc4.place::INTEGER AS c4, uc4.of AS c5 FROM (SELECT *, unnest(list_transform(c14, lambda pe, pi: {'place': pi - 1, 'of': pe})) AS uc4 FROM 
(SELECT c8, c9, c10, c11, c12, c13, c14, c15 FROM 
(SELECT "trace" AS c8, "node" AS c9, "type" AS c7, "seq" AS c10, "at" AS c11, "folder" AS c12, "entry" AS c13, "candidates" AS c14, "method" AS c15, "family" AS c6 FROM "silver/events") WHERE ((c6 IN ('replication')) AND (c7 IN ('sources.considered'))))))))
UNION ALL SELECT c19 AS c8, c20 AS c9, c21 AS c10, c22 AS c11, c23 AS c12, c24 AS c13, c33 AS c15, c25 AS c1, c34 AS c4, c35 AS c5, c27 AS c16 FROM 
(SELECT c19, c20, c21, c22, c23, c24, CAST(NULL AS VARCHAR) AS c33, c25, CAST(NULL AS INTEGER) AS c34, CAST(NULL AS STRUCT("store" VARCHAR, "down" BOOLEAN, "preferred" BOOLEAN, "cost" BIGINT, "version" VARCHAR, "has" BIGINT, "passed_over" VARCHAR, "site" VARCHAR, "near" BOOLEAN, "group" BIGINT, "has_all" BOOLEAN, "affinity" BIGINT, "transit_us" BIGINT, "backfilled_at" BIGINT, "guid" VARCHAR, "active" BOOLEAN, "added_at" BIGINT, "leaving" BOOLEAN)) AS c35, c27 FROM 
(SELECT c19, c20, c21, c22, c23, c24, c25, c27 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c19, c20, c21, c22, c23, c24, 'entry' AS c25 FROM 
(SELECT c19, c20, c21, c22, c23, c24 FROM 
(SELECT "trace" AS c19, "node" AS c20, "type" AS c18, "seq" AS c21, "at" AS c22, "folder" AS c23, "entry" AS c24, "family" AS c17 FROM "silver/events") WHERE ((c17 IN ('replication')) AND (c18 IN ('entry.made')))))) JOIN 
(SELECT * FROM 
(SELECT DISTINCT c26, c27, c28 FROM 
(SELECT c26, c27, c28 FROM 
(SELECT c26, c27, c28 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT DISTINCT c26, c27, c29 FROM 
(SELECT c26, c27, c29 FROM 
(SELECT "trace" AS c26, "store" AS c27, "site" AS c29 FROM "organization/members")))) JOIN 
(SELECT * FROM 
(SELECT c30, c31 AS c28, c32 FROM 
(SELECT DISTINCT c30, c31, c32 FROM 
(SELECT c30, c31, c32 FROM 
(SELECT "trace" AS c30, "store" AS c31, "site" AS c32 FROM "organization/members"))))) ON ((c26 = c30) AND (c29 = c32)))) WHERE (NOT (c27 = c28))))) ON ((c19 = c26) AND (c20 = c28))))))) ANTI JOIN 
(SELECT * FROM 
(SELECT "trace" AS c36, "node" AS c37 FROM "evidence/restored")) ON ((c8 = c36) AND (c9 = c37)))))
UNION ALL SELECT c47 AS c8, c48 AS c9, c49 AS c10, c382 AS c11, c51 AS c12, c383 AS c13, c384 AS c15, c385 AS c1, c386 AS c4, c387 AS c5, c50 AS c16, c54 AS c38, c82 AS c39, c113 AS c40, c195 AS c41, c242 AS c42, c286 AS c43, c346 AS c44 FROM 
(SELECT c47, c48, c49, CAST(NULL AS BIGINT) AS c382, c51, CAST(NULL AS BIGINT) AS c383, CAST(NULL AS VARCHAR) AS c384, CAST(NULL AS VARCHAR) AS c385, CAST(NULL AS INTEGER) AS c386, CAST(NULL AS STRUCT("store" VARCHAR, "down" BOOLEAN, "preferred" BOOLEAN, "cost" BIGINT, "version" VARCHAR, "has" BIGINT, "passed_over" VARCHAR, "site" VARCHAR, "near" BOOLEAN, "group" BIGINT, "has_all" BOOLEAN, "affinity" BIGINT, "transit_us" BIGINT, "backfilled_at" BIGINT, "guid" VARCHAR, "active" BOOLEAN, "added_at" BIGINT, "leaving" BOOLEAN)) AS c387, c50, c54, c82, c113, c195, c242, c286, c346 FROM 
(SELECT c47 AS c47, c48 AS c48, c50 AS c50, c49 AS c49, c51 AS c51, c54 AS c54, c82 AS c82, c113 AS c113, c195 AS c195, c242 AS c242, c286 AS c286, c346 AS c346 FROM 
(SELECT c47, c48, c50, c49, c51, c54, c82, c113, c195, c242, c286, CAST(NULL AS BOOLEAN) AS c346 FROM 
(SELECT c47 AS c47, c48 AS c48, c50 AS c50, c49 AS c49, c51 AS c51, c54 AS c54, c82 AS c82, c113 AS c113, c195 AS c195, c242 AS c242, c286 AS c286 FROM 
(SELECT c47, c48, c50, c49, c51, c54, c82, c113, c195, c242, CAST(NULL AS STRUCT("seq" BIGINT, "row" STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[])) AS c286 FROM 
(SELECT c47 AS c47, c48 AS c48, c50 AS c50, c49 AS c49, c51 AS c51, c54 AS c54, c82 AS c82, c113 AS c113, c195 AS c195, c242 AS c242 FROM 
(SELECT c47, c48, c50, c49, c51, c54, c82, c113, c195, CAST(NULL AS STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[]) AS c242 FROM 
(SELECT c47 AS c47, c48 AS c48, c50 AS c50, c49 AS c49, c51 AS c51, c54 AS c54, c82 AS c82, c113 AS c113, c195 AS c195 FROM 
(SELECT c47, c48, c50, c49, c51, c54, c82, c113, CAST(NULL AS BIGINT) AS c195 FROM 
(SELECT c47 AS c47, c48 AS c48, c50 AS c50, c49 AS c49, c51 AS c51, c54 AS c54, c82 AS c82, c113 AS c113 FROM 
(SELECT c47, c48, c50, c49, c51, c54, c82, CAST(NULL AS BIGINT) AS c113 FROM 
(SELECT c47 AS c47, c48 AS c48, c50 AS c50, c49 AS c49, c51 AS c51, c54 AS c54, c82 AS c82 FROM 
(SELECT c47, c48, c50, c49, c51, c54, CAST(NULL AS BOOLEAN) AS c82 FROM 
(SELECT c47, c48, c50, c49, c51, c54 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c47, c48, c49, c50, c51, {'seq': c49, 'row': (list_flattened(list_transform(list_filter(str_split(c52, ';'), lambda v56: (NOT (v56 = ''))), lambda v55: list_transform(str_split(split_part(v55, ':', 2), ','), lambda v57: {'guid': CASE WHEN ('message' = 'fai') THEN (split_part(v55, ':', 1) || ' fai') ELSE split_part(v55, ':', 1) END, 'low': text_to_bigint(split_part(v57, '-', 1)), 'high': text_to_bigint(split_part(v57, '-', (-1)))}))) || list_flattened(list_transform(list_filter(str_split(c53, ';'), lambda v59: (NOT (v59 = ''))), lambda v58: list_transform(str_split(split_part(v58, ':', 2), ','), lambda v60: {'guid': CASE WHEN ('fai' = 'fai') THEN (split_part(v58, ':', 1) || ' fai') ELSE split_part(v58, ':', 1) END, 'low': text_to_bigint(split_part(v60, '-', 1)), 'high': text_to_bigint(split_part(v60, '-', (-1)))}))))} AS c54 FROM 
(SELECT c47, c48, c49, c51, c50, c52, c53 FROM 
(SELECT "trace" AS c47, "node" AS c48, "type" AS c46, "seq" AS c49, "store" AS c50, "folder" AS c51, "cnset" AS c52, "cnset_fai" AS c53, "family" AS c45 FROM "silver/events") WHERE ((c45 IN ('replication')) AND (c46 IN ('row.replaced')))))) SEMI JOIN 
(SELECT * FROM 
(SELECT DISTINCT c61, c62, c63 FROM 
(SELECT c61, c62, c63 FROM 
(SELECT c61, c62, c63 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c61 AS c61, c62 AS c62, c63 AS c63 FROM 
(SELECT c61, c62, (c65)."store" AS c63 FROM 
(SELECT c61, c62, c65 FROM 
(SELECT * EXCLUDE (uc64), uc64.place::INTEGER AS c64, uc64.of AS c65 FROM (SELECT *, unnest(list_transform(c68, lambda pe, pi: {'place': pi - 1, 'of': pe})) AS uc64 FROM 
(SELECT c61, c62, c68 FROM 
(SELECT "trace" AS c61, "node" AS c62, "type" AS c67, "candidates" AS c68, "family" AS c66 FROM "silver/events") WHERE ((c66 IN ('replication')) AND (c67 IN ('sources.considered'))))))))
UNION ALL SELECT c71 AS c61, c72 AS c62, c74 AS c63 FROM 
(SELECT c71, c72, c74 FROM 
(SELECT c71, c72, c74 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c71, c72 FROM 
(SELECT c71, c72 FROM 
(SELECT "trace" AS c71, "node" AS c72, "type" AS c70, "family" AS c69 FROM "silver/events") WHERE ((c69 IN ('replication')) AND (c70 IN ('entry.made')))))) JOIN 
(SELECT * FROM 
(SELECT DISTINCT c73, c74, c75 FROM 
(SELECT c73, c74, c75 FROM 
(SELECT c73, c74, c75 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT DISTINCT c73, c74, c76 FROM 
(SELECT c73, c74, c76 FROM 
(SELECT "trace" AS c73, "store" AS c74, "site" AS c76 FROM "organization/members")))) JOIN 
(SELECT * FROM 
(SELECT c77, c78 AS c75, c79 FROM 
(SELECT DISTINCT c77, c78, c79 FROM 
(SELECT c77, c78, c79 FROM 
(SELECT "trace" AS c77, "store" AS c78, "site" AS c79 FROM "organization/members"))))) ON ((c73 = c77) AND (c76 = c79)))) WHERE (NOT (c74 = c75))))) ON ((c71 = c73) AND (c72 = c75))))))) ANTI JOIN 
(SELECT * FROM 
(SELECT "trace" AS c80, "node" AS c81 FROM "evidence/restored")) ON ((c61 = c80) AND (c62 = c81))))))) ON (((c47 = c61) AND (c48 = c62)) AND (c50 = c63)))))
UNION ALL SELECT c85 AS c47, c86 AS c48, c88 AS c50, c87 AS c49, c111 AS c51, c112 AS c54, c89 AS c82 FROM 
(SELECT c85, c86, c88, c87, CAST(NULL AS VARCHAR) AS c111, CAST(NULL AS STRUCT("seq" BIGINT, "row" STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[])) AS c112, c89 FROM 
(SELECT c85, c86, c88, c87, c89 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c85, c86, c87, c88, TRUE AS c89 FROM 
(SELECT c85, c86, c87, c88 FROM 
(SELECT "trace" AS c85, "node" AS c86, "type" AS c84, "seq" AS c87, "store" AS c88, "family" AS c83 FROM "silver/events") WHERE ((c83 IN ('replication')) AND (c84 IN ('source.down')))))) SEMI JOIN 
(SELECT * FROM 
(SELECT DISTINCT c90, c91, c92 FROM 
(SELECT c90, c91, c92 FROM 
(SELECT c90, c91, c92 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c90 AS c90, c91 AS c91, c92 AS c92 FROM 
(SELECT c90, c91, (c94)."store" AS c92 FROM 
(SELECT c90, c91, c94 FROM 
(SELECT * EXCLUDE (uc93), uc93.place::INTEGER AS c93, uc93.of AS c94 FROM (SELECT *, unnest(list_transform(c97, lambda pe, pi: {'place': pi - 1, 'of': pe})) AS uc93 FROM 
(SELECT c90, c91, c97 FROM 
(SELECT "trace" AS c90, "node" AS c91, "type" AS c96, "candidates" AS c97, "family" AS c95 FROM "silver/events") WHERE ((c95 IN ('replication')) AND (c96 IN ('sources.considered'))))))))
UNION ALL SELECT c100 AS c90, c101 AS c91, c103 AS c92 FROM 
(SELECT c100, c101, c103 FROM 
(SELECT c100, c101, c103 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c100, c101 FROM 
(SELECT c100, c101 FROM 
(SELECT "trace" AS c100, "node" AS c101, "type" AS c99, "family" AS c98 FROM "silver/events") WHERE ((c98 IN ('replication')) AND (c99 IN ('entry.made')))))) JOIN 
(SELECT * FROM 
(SELECT DISTINCT c102, c103, c104 FROM 
(SELECT c102, c103, c104 FROM 
(SELECT c102, c103, c104 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT DISTINCT c102, c103, c105 FROM 
(SELECT c102, c103, c105 FROM 
(SELECT "trace" AS c102, "store" AS c103, "site" AS c105 FROM "organization/members")))) JOIN 
(SELECT * FROM 
(SELECT c106, c107 AS c104, c108 FROM 
(SELECT DISTINCT c106, c107, c108 FROM 
(SELECT c106, c107, c108 FROM 
(SELECT "trace" AS c106, "store" AS c107, "site" AS c108 FROM "organization/members"))))) ON ((c102 = c106) AND (c105 = c108)))) WHERE (NOT (c103 = c104))))) ON ((c100 = c102) AND (c101 = c104))))))) ANTI JOIN 
(SELECT * FROM 
(SELECT "trace" AS c109, "node" AS c110 FROM "evidence/restored")) ON ((c90 = c109) AND (c91 = c110))))))) ON (((c85 = c90) AND (c86 = c91)) AND (c88 = c92)))))))
UNION ALL SELECT c117 AS c47, c118 AS c48, c123 AS c50, c119 AS c49, c193 AS c51, c194 AS c54, c188 AS c82, c189 AS c113 FROM 
(SELECT c117, c118, c123, c119, CAST(NULL AS VARCHAR) AS c193, CAST(NULL AS STRUCT("seq" BIGINT, "row" STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[])) AS c194, c188, c189 FROM 
(SELECT c117, c118, c119, c123, c188, c189 FROM 
(SELECT c117, c118, c123, c119, CASE WHEN c185 THEN c124 END AS c188, CASE WHEN c185 THEN list_reduce(list_part(c187, 2, coalesce(len(c187)::INTEGER, -1)), lambda v190, v191: add_wrapped(v190, double_to_bigint(floor(((subtract_wrapped(v191, v190))::DOUBLE / nullif((4)::DOUBLE, 0))))), CAST(list_item(c187, 0) AS BIGINT)) END AS c189 FROM 
(SELECT c117, c118, c123, c119, c124, c185, c187 FROM 
(SELECT c117, c118, c123, c119, c124, c185, c187, c187 FROM 
(SELECT *, coalesce(list(c186) FILTER (WHERE c186 IS NOT NULL) OVER (PARTITION BY c117, c118, c123, c177, c185 ORDER BY c119 ASC NULLS FIRST ROWS BETWEEN 64 PRECEDING AND CURRENT ROW), []) AS c187 FROM 
(SELECT c117, c118, c123, c119, c124, c177, c185, greatest(subtract_wrapped(c120, c183), (0)::BIGINT) AS c186 FROM 
(SELECT c117, c118, c123, c119, c120, c124, c177, c183, c185 FROM 
(SELECT c117, c118, c123, c119, c120, c124, c177, c183, coalesce((c183 > c184), TRUE) AS c185 FROM 
(SELECT *, max(c183) OVER (PARTITION BY c117, c118, c123, c177 ORDER BY c119 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS c184 FROM 
(SELECT c117, c118, c123, c119, c120, c124, c177, c183 FROM 
(SELECT c117, c118, c123, c119, c120, c124, c177, c183 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c117, c118, c123, c119, c120, c121, c124, c114, c177 FROM 
(SELECT c117, c118, c123, c119, c120, c121, c124, c114, c177, c177 FROM 
(SELECT *, count(c114) OVER (PARTITION BY c117, c118, c123 ORDER BY c119 ASC NULLS FIRST RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS c177 FROM 
(SELECT c117, c118, c123, c119, c120, c121, c124, c114 FROM 
(SELECT c117 AS c117, c118 AS c118, c123 AS c123, c119 AS c119, c120 AS c120, c121 AS c121, c124 AS c124, c114 AS c114 FROM 
(SELECT c117, c118, c123, c119, c120, c121, c124, CAST(NULL AS BOOLEAN) AS c114 FROM 
(SELECT c117, c118, c123, c119, c120, c121, c124 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c117, c118, c119, c120, c121, c122 AS c123, FALSE AS c124 FROM 
(SELECT c117, c118, c119, c120, c121, c122 FROM 
(SELECT "trace" AS c117, "node" AS c118, "type" AS c116, "seq" AS c119, "at" AS c120, "mail" AS c121, "sender" AS c122, "family" AS c115 FROM "silver/events") WHERE ((c115 IN ('mail')) AND (c116 IN ('mail.received')))))) SEMI JOIN 
(SELECT * FROM 
(SELECT DISTINCT c125, c126, c127 FROM 
(SELECT c125, c126, c127 FROM 
(SELECT c125, c126, c127 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c125 AS c125, c126 AS c126, c127 AS c127 FROM 
(SELECT c125, c126, (c129)."store" AS c127 FROM 
(SELECT c125, c126, c129 FROM 
(SELECT * EXCLUDE (uc128), uc128.place::INTEGER AS c128, uc128.of AS c129 FROM (SELECT *, unnest(list_transform(c132, lambda pe, pi: {'place': pi - 1, 'of': pe})) AS uc128 FROM 
(SELECT c125, c126, c132 FROM 
(SELECT "trace" AS c125, "node" AS c126, "type" AS c131, "candidates" AS c132, "family" AS c130 FROM "silver/events") WHERE ((c130 IN ('replication')) AND (c131 IN ('sources.considered'))))))))
UNION ALL SELECT c135 AS c125, c136 AS c126, c138 AS c127 FROM 
(SELECT c135, c136, c138 FROM 
(SELECT c135, c136, c138 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c135, c136 FROM 
(SELECT c135, c136 FROM 
(SELECT "trace" AS c135, "node" AS c136, "type" AS c134, "family" AS c133 FROM "silver/events") WHERE ((c133 IN ('replication')) AND (c134 IN ('entry.made')))))) JOIN 
(SELECT * FROM 
(SELECT DISTINCT c137, c138, c139 FROM 
(SELECT c137, c138, c139 FROM 
(SELECT c137, c138, c139 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT DISTINCT c137, c138, c140 FROM 
(SELECT c137, c138, c140 FROM 
(SELECT "trace" AS c137, "store" AS c138, "site" AS c140 FROM "organization/members")))) JOIN 
(SELECT * FROM 
(SELECT c141, c142 AS c139, c143 FROM 
(SELECT DISTINCT c141, c142, c143 FROM 
(SELECT c141, c142, c143 FROM 
(SELECT "trace" AS c141, "store" AS c142, "site" AS c143 FROM "organization/members"))))) ON ((c137 = c141) AND (c140 = c143)))) WHERE (NOT (c138 = c139))))) ON ((c135 = c137) AND (c136 = c139))))))) ANTI JOIN 
(SELECT * FROM 
(SELECT "trace" AS c144, "node" AS c145 FROM "evidence/restored")) ON ((c125 = c144) AND (c126 = c145))))))) ON (((c117 = c125) AND (c118 = c126)) AND (c123 = c127)))))
UNION ALL SELECT c148 AS c117, c149 AS c118, c151 AS c123, c150 AS c119, c174 AS c120, c175 AS c121, c176 AS c124, c152 AS c114 FROM 
(SELECT c148, c149, c151, c150, CAST(NULL AS BIGINT) AS c174, CAST(NULL AS VARCHAR) AS c175, CAST(NULL AS BOOLEAN) AS c176, c152 FROM 
(SELECT c148, c149, c151, c150, c152 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c148, c149, c150, c151, TRUE AS c152 FROM 
(SELECT c148, c149, c150, c151 FROM 
(SELECT "trace" AS c148, "node" AS c149, "type" AS c147, "seq" AS c150, "store" AS c151, "family" AS c146 FROM "silver/events") WHERE ((c146 IN ('replication')) AND (c147 IN ('store.deleted')))))) SEMI JOIN 
(SELECT * FROM 
(SELECT DISTINCT c153, c154, c155 FROM 
(SELECT c153, c154, c155 FROM 
(SELECT c153, c154, c155 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c153 AS c153, c154 AS c154, c155 AS c155 FROM 
(SELECT c153, c154, (c157)."store" AS c155 FROM 
(SELECT c153, c154, c157 FROM 
(SELECT * EXCLUDE (uc156), uc156.place::INTEGER AS c156, uc156.of AS c157 FROM (SELECT *, unnest(list_transform(c160, lambda pe, pi: {'place': pi - 1, 'of': pe})) AS uc156 FROM 
(SELECT c153, c154, c160 FROM 
(SELECT "trace" AS c153, "node" AS c154, "type" AS c159, "candidates" AS c160, "family" AS c158 FROM "silver/events") WHERE ((c158 IN ('replication')) AND (c159 IN ('sources.considered'))))))))
UNION ALL SELECT c163 AS c153, c164 AS c154, c166 AS c155 FROM 
(SELECT c163, c164, c166 FROM 
(SELECT c163, c164, c166 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c163, c164 FROM 
(SELECT c163, c164 FROM 
(SELECT "trace" AS c163, "node" AS c164, "type" AS c162, "family" AS c161 FROM "silver/events") WHERE ((c161 IN ('replication')) AND (c162 IN ('entry.made')))))) JOIN 
(SELECT * FROM 
(SELECT DISTINCT c165, c166, c167 FROM 
(SELECT c165, c166, c167 FROM 
(SELECT c165, c166, c167 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT DISTINCT c165, c166, c168 FROM 
(SELECT c165, c166, c168 FROM 
(SELECT "trace" AS c165, "store" AS c166, "site" AS c168 FROM "organization/members")))) JOIN 
(SELECT * FROM 
(SELECT c169, c170 AS c167, c171 FROM 
(SELECT DISTINCT c169, c170, c171 FROM 
(SELECT c169, c170, c171 FROM 
(SELECT "trace" AS c169, "store" AS c170, "site" AS c171 FROM "organization/members"))))) ON ((c165 = c169) AND (c168 = c171)))) WHERE (NOT (c166 = c167))))) ON ((c163 = c165) AND (c164 = c167))))))) ANTI JOIN 
(SELECT * FROM 
(SELECT "trace" AS c172, "node" AS c173 FROM "evidence/restored")) ON ((c153 = c172) AND (c154 = c173))))))) ON (((c148 = c153) AND (c149 = c154)) AND (c151 = c155)))))))))) WHERE (c114 IS NULL)) LEFT JOIN 
(SELECT * FROM 
(SELECT c180, c182, c181 AS c183 FROM 
(SELECT c180, c181, c182 FROM 
(SELECT "trace" AS c180, "type" AS c179, "at" AS c181, "mail" AS c182, "family" AS c178 FROM "silver/events") WHERE ((c178 IN ('mail')) AND (c179 IN ('mail.submitted')))))) ON ((c117 = c180) AND (c121 = c182)))))))))))))))))
UNION ALL SELECT c198 AS c47, c199 AS c48, c203 AS c50, c200 AS c49, c238 AS c51, c239 AS c54, c240 AS c82, c241 AS c113, c204 AS c195 FROM 
(SELECT c198, c199, c203, c200, CAST(NULL AS VARCHAR) AS c238, CAST(NULL AS STRUCT("seq" BIGINT, "row" STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[])) AS c239, CAST(NULL AS BOOLEAN) AS c240, CAST(NULL AS BIGINT) AS c241, c204 FROM 
(SELECT c198, c199, c203, c200, c204 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c198 AS c198, c199 AS c199, c200 AS c200, c203 AS c203, c204 AS c204 FROM 
(SELECT c198, c199, c200, c202 AS c203, c201 AS c204 FROM 
(SELECT c198, c199, c200, c201, c202 FROM 
(SELECT "trace" AS c198, "node" AS c199, "type" AS c197, "seq" AS c200, "at" AS c201, "source" AS c202, "family" AS c196 FROM "silver/events") WHERE ((c196 IN ('replication')) AND (c197 IN ('request.sent')))))
UNION ALL SELECT c209 AS c198, c210 AS c199, c211 AS c200, c216 AS c203, c215 AS c204 FROM 
(SELECT c209, c210, c211, c216, c215 FROM 
(SELECT c209, c210, c211, (c205)."store" AS c216, c215 FROM 
(SELECT c209, c210, c211, c205, c212 AS c215 FROM 
(SELECT * EXCLUDE (uc205), uc205 AS c205 FROM (SELECT *, unnest(list_filter(c213, lambda v214: ((v214)."group" = (1)::BIGINT))) AS uc205 FROM 
(SELECT c209, c210, c211, c212, c213, c206 FROM 
(SELECT "trace" AS c209, "node" AS c210, "type" AS c208, "seq" AS c211, "at" AS c212, "candidates" AS c213, "method" AS c206, "family" AS c207 FROM "silver/events") WHERE ((c207 IN ('replication')) AND (c208 IN ('responders.considered')))) WHERE (c206 = 'six steps')))))))) SEMI JOIN 
(SELECT * FROM 
(SELECT DISTINCT c217, c218, c219 FROM 
(SELECT c217, c218, c219 FROM 
(SELECT c217, c218, c219 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c217 AS c217, c218 AS c218, c219 AS c219 FROM 
(SELECT c217, c218, (c221)."store" AS c219 FROM 
(SELECT c217, c218, c221 FROM 
(SELECT * EXCLUDE (uc220), uc220.place::INTEGER AS c220, uc220.of AS c221 FROM (SELECT *, unnest(list_transform(c224, lambda pe, pi: {'place': pi - 1, 'of': pe})) AS uc220 FROM 
(SELECT c217, c218, c224 FROM 
(SELECT "trace" AS c217, "node" AS c218, "type" AS c223, "candidates" AS c224, "family" AS c222 FROM "silver/events") WHERE ((c222 IN ('replication')) AND (c223 IN ('sources.considered'))))))))
UNION ALL SELECT c227 AS c217, c228 AS c218, c230 AS c219 FROM 
(SELECT c227, c228, c230 FROM 
(SELECT c227, c228, c230 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c227, c228 FROM 
(SELECT c227, c228 FROM 
(SELECT "trace" AS c227, "node" AS c228, "type" AS c226, "family" AS c225 FROM "silver/events") WHERE ((c225 IN ('replication')) AND (c226 IN ('entry.made')))))) JOIN 
(SELECT * FROM 
(SELECT DISTINCT c229, c230, c231 FROM 
(SELECT c229, c230, c231 FROM 
(SELECT c229, c230, c231 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT DISTINCT c229, c230, c232 FROM 
(SELECT c229, c230, c232 FROM 
(SELECT "trace" AS c229, "store" AS c230, "site" AS c232 FROM "organization/members")))) JOIN 
(SELECT * FROM 
(SELECT c233, c234 AS c231, c235 FROM 
(SELECT DISTINCT c233, c234, c235 FROM 
(SELECT c233, c234, c235 FROM 
(SELECT "trace" AS c233, "store" AS c234, "site" AS c235 FROM "organization/members"))))) ON ((c229 = c233) AND (c232 = c235)))) WHERE (NOT (c230 = c231))))) ON ((c227 = c229) AND (c228 = c231))))))) ANTI JOIN 
(SELECT * FROM 
(SELECT "trace" AS c236, "node" AS c237 FROM "evidence/restored")) ON ((c217 = c236) AND (c218 = c237))))))) ON (((c198 = c217) AND (c199 = c218)) AND (c203 = c219)))))))
UNION ALL SELECT c246 AS c47, c247 AS c48, c252 AS c50, c248 AS c49, c253 AS c51, c282 AS c54, c283 AS c82, c284 AS c113, c285 AS c195, c254 AS c242 FROM 
(SELECT c246, c247, c252, c248, c253, CAST(NULL AS STRUCT("seq" BIGINT, "row" STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[])) AS c282, CAST(NULL AS BOOLEAN) AS c283, CAST(NULL AS BIGINT) AS c284, CAST(NULL AS BIGINT) AS c285, c254 FROM 
(SELECT c246, c247, c252, c248, c253, c254 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c246, c247, c248, c252, (c243)."folder" AS c253, (list_flattened(list_transform(list_filter(str_split((c243)."expired", ';'), lambda v256: (NOT (v256 = ''))), lambda v255: list_transform(str_split(split_part(v255, ':', 2), ','), lambda v257: {'guid': CASE WHEN ('message' = 'fai') THEN (split_part(v255, ':', 1) || ' fai') ELSE split_part(v255, ':', 1) END, 'low': text_to_bigint(split_part(v257, '-', 1)), 'high': text_to_bigint(split_part(v257, '-', (-1)))}))) || list_flattened(list_transform(list_filter(str_split((c243)."expired_fai", ';'), lambda v259: (NOT (v259 = ''))), lambda v258: list_transform(str_split(split_part(v258, ':', 2), ','), lambda v260: {'guid': CASE WHEN ('fai' = 'fai') THEN (split_part(v258, ':', 1) || ' fai') ELSE split_part(v258, ':', 1) END, 'low': text_to_bigint(split_part(v260, '-', 1)), 'high': text_to_bigint(split_part(v260, '-', (-1)))})))) AS c254 FROM 
(SELECT c246, c247, c248, c250 AS c252, c243 FROM 
(SELECT * EXCLUDE (uc243), uc243 AS c243 FROM (SELECT *, unnest(c251) AS uc243 FROM 
(SELECT c246, c247, c248, c250, list_from_json(c249, '"STRUCT(\"folder\" VARCHAR, \"cnset\" VARCHAR, \"cnset_fai\" VARCHAR, \"row\" VARCHAR, \"row_fai\" VARCHAR, \"updates\" BIGINT, \"expired\" VARCHAR, \"expired_fai\" VARCHAR)[]"') AS c251 FROM 
(SELECT "trace" AS c246, "node" AS c247, "type" AS c245, "seq" AS c248, "folders" AS c249, "sender" AS c250, "family" AS c244 FROM "silver/events") WHERE ((c244 IN ('mail')) AND (c245 IN ('mail.received'))))))) WHERE ((NOT ((c243)."expired" = '')) OR (NOT ((c243)."expired_fai" = ''))))) SEMI JOIN 
(SELECT * FROM 
(SELECT DISTINCT c261, c262, c263 FROM 
(SELECT c261, c262, c263 FROM 
(SELECT c261, c262, c263 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c261 AS c261, c262 AS c262, c263 AS c263 FROM 
(SELECT c261, c262, (c265)."store" AS c263 FROM 
(SELECT c261, c262, c265 FROM 
(SELECT * EXCLUDE (uc264), uc264.place::INTEGER AS c264, uc264.of AS c265 FROM (SELECT *, unnest(list_transform(c268, lambda pe, pi: {'place': pi - 1, 'of': pe})) AS uc264 FROM 
(SELECT c261, c262, c268 FROM 
(SELECT "trace" AS c261, "node" AS c262, "type" AS c267, "candidates" AS c268, "family" AS c266 FROM "silver/events") WHERE ((c266 IN ('replication')) AND (c267 IN ('sources.considered'))))))))
UNION ALL SELECT c271 AS c261, c272 AS c262, c274 AS c263 FROM 
(SELECT c271, c272, c274 FROM 
(SELECT c271, c272, c274 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c271, c272 FROM 
(SELECT c271, c272 FROM 
(SELECT "trace" AS c271, "node" AS c272, "type" AS c270, "family" AS c269 FROM "silver/events") WHERE ((c269 IN ('replication')) AND (c270 IN ('entry.made')))))) JOIN 
(SELECT * FROM 
(SELECT DISTINCT c273, c274, c275 FROM 
(SELECT c273, c274, c275 FROM 
(SELECT c273, c274, c275 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT DISTINCT c273, c274, c276 FROM 
(SELECT c273, c274, c276 FROM 
(SELECT "trace" AS c273, "store" AS c274, "site" AS c276 FROM "organization/members")))) JOIN 
(SELECT * FROM 
(SELECT c277, c278 AS c275, c279 FROM 
(SELECT DISTINCT c277, c278, c279 FROM 
(SELECT c277, c278, c279 FROM 
(SELECT "trace" AS c277, "store" AS c278, "site" AS c279 FROM "organization/members"))))) ON ((c273 = c277) AND (c276 = c279)))) WHERE (NOT (c274 = c275))))) ON ((c271 = c273) AND (c272 = c275))))))) ANTI JOIN 
(SELECT * FROM 
(SELECT "trace" AS c280, "node" AS c281 FROM "evidence/restored")) ON ((c261 = c280) AND (c262 = c281))))))) ON (((c246 = c261) AND (c247 = c262)) AND (c252 = c263)))))))
UNION ALL SELECT c291 AS c47, c292 AS c48, c297 AS c50, c293 AS c49, c312 AS c51, c341 AS c54, c342 AS c82, c343 AS c113, c344 AS c195, c345 AS c242, c313 AS c286 FROM 
(SELECT c291, c292, c297, c293, c312, CAST(NULL AS STRUCT("seq" BIGINT, "row" STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[])) AS c341, CAST(NULL AS BOOLEAN) AS c342, CAST(NULL AS BIGINT) AS c343, CAST(NULL AS BIGINT) AS c344, CAST(NULL AS STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[]) AS c345, c313 FROM 
(SELECT c291, c292, c297, c293, c312, c313 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c291, c292, c293, c297, (c287)."folder" AS c312, {'seq': c293, 'row': CASE WHEN c298 THEN (list_flattened(list_transform(list_filter(str_split((c287)."row", ';'), lambda v315: (NOT (v315 = ''))), lambda v314: list_transform(str_split(split_part(v314, ':', 2), ','), lambda v316: {'guid': CASE WHEN ('message' = 'fai') THEN (split_part(v314, ':', 1) || ' fai') ELSE split_part(v314, ':', 1) END, 'low': text_to_bigint(split_part(v316, '-', 1)), 'high': text_to_bigint(split_part(v316, '-', (-1)))}))) || list_flattened(list_transform(list_filter(str_split((c287)."row_fai", ';'), lambda v318: (NOT (v318 = ''))), lambda v317: list_transform(str_split(split_part(v317, ':', 2), ','), lambda v319: {'guid': CASE WHEN ('fai' = 'fai') THEN (split_part(v317, ':', 1) || ' fai') ELSE split_part(v317, ':', 1) END, 'low': text_to_bigint(split_part(v319, '-', 1)), 'high': text_to_bigint(split_part(v319, '-', (-1)))})))) ELSE CAST([] AS STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[]) END} AS c313 FROM 
(SELECT c291 AS c291, c292 AS c292, c293 AS c293, c297 AS c297, c298 AS c298, c287 AS c287 FROM 
(SELECT c291, c292, c293, c295 AS c297, list_contains_or_null(c288, 'delete-pending') AS c298, c287 FROM 
(SELECT * EXCLUDE (uc287), uc287 AS c287 FROM (SELECT *, unnest(c296) AS uc287 FROM 
(SELECT c291, c292, c293, c295, list_from_json(c294, '"STRUCT(\"folder\" VARCHAR, \"cnset\" VARCHAR, \"cnset_fai\" VARCHAR, \"row\" VARCHAR, \"row_fai\" VARCHAR, \"updates\" BIGINT, \"expired\" VARCHAR, \"expired_fai\" VARCHAR)[]"') AS c296, c288 FROM 
(SELECT "trace" AS c291, "node" AS c292, "type" AS c290, "seq" AS c293, "folders" AS c294, "marks" AS c288, "sender" AS c295, "family" AS c289 FROM "silver/events") WHERE ((c289 IN ('mail')) AND (c290 IN ('mail.received')))) WHERE (list_contains_or_null(c288, 'delete-pending') OR list_contains_or_null(c288, 'no replica')))))
UNION ALL SELECT c304 AS c291, c305 AS c292, c306 AS c293, c310 AS c297, c311 AS c298, c299 AS c287 FROM 
(SELECT c304, c305, c306, c310, c311, c299 FROM 
(SELECT c304, c305, c306, regexp_replace(c300, '(-IS)?@[^\n\r\x{85}\x{2028}\x{2029}]*\z', '', 'g') AS c310, FALSE AS c311, c299 FROM 
(SELECT * EXCLUDE (uc299), uc299 AS c299 FROM (SELECT *, unnest(c309) AS uc299 FROM 
(SELECT c304, c305, c306, c300, c309 FROM 
(SELECT * EXCLUDE (uc300), uc300 AS c300 FROM (SELECT *, unnest(c307) AS uc300 FROM 
(SELECT c304, c305, c306, list_from_json(c308, '"STRUCT(\"folder\" VARCHAR, \"cnset\" VARCHAR, \"cnset_fai\" VARCHAR, \"row\" VARCHAR, \"row_fai\" VARCHAR, \"updates\" BIGINT, \"expired\" VARCHAR, \"expired_fai\" VARCHAR)[]"') AS c309, c307, c301 FROM 
(SELECT "trace" AS c304, "node" AS c305, "type" AS c303, "seq" AS c306, "recipients" AS c307, "folders" AS c308, "marks" AS c301, "family" AS c302 FROM "silver/events") WHERE ((c302 IN ('mail')) AND (c303 IN ('mail.submitted')))) WHERE list_contains_or_null(c301, 'retained'))))))))))) SEMI JOIN 
(SELECT * FROM 
(SELECT DISTINCT c320, c321, c322 FROM 
(SELECT c320, c321, c322 FROM 
(SELECT c320, c321, c322 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c320 AS c320, c321 AS c321, c322 AS c322 FROM 
(SELECT c320, c321, (c324)."store" AS c322 FROM 
(SELECT c320, c321, c324 FROM 
(SELECT * EXCLUDE (uc323), uc323.place::INTEGER AS c323, uc323.of AS c324 FROM (SELECT *, unnest(list_transform(c327, lambda pe, pi: {'place': pi - 1, 'of': pe})) AS uc323 FROM 
(SELECT c320, c321, c327 FROM 
(SELECT "trace" AS c320, "node" AS c321, "type" AS c326, "candidates" AS c327, "family" AS c325 FROM "silver/events") WHERE ((c325 IN ('replication')) AND (c326 IN ('sources.considered'))))))))
UNION ALL SELECT c330 AS c320, c331 AS c321, c333 AS c322 FROM 
(SELECT c330, c331, c333 FROM 
(SELECT c330, c331, c333 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c330, c331 FROM 
(SELECT c330, c331 FROM 
(SELECT "trace" AS c330, "node" AS c331, "type" AS c329, "family" AS c328 FROM "silver/events") WHERE ((c328 IN ('replication')) AND (c329 IN ('entry.made')))))) JOIN 
(SELECT * FROM 
(SELECT DISTINCT c332, c333, c334 FROM 
(SELECT c332, c333, c334 FROM 
(SELECT c332, c333, c334 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT DISTINCT c332, c333, c335 FROM 
(SELECT c332, c333, c335 FROM 
(SELECT "trace" AS c332, "store" AS c333, "site" AS c335 FROM "organization/members")))) JOIN 
(SELECT * FROM 
(SELECT c336, c337 AS c334, c338 FROM 
(SELECT DISTINCT c336, c337, c338 FROM 
(SELECT c336, c337, c338 FROM 
(SELECT "trace" AS c336, "store" AS c337, "site" AS c338 FROM "organization/members"))))) ON ((c332 = c336) AND (c335 = c338)))) WHERE (NOT (c333 = c334))))) ON ((c330 = c332) AND (c331 = c334))))))) ANTI JOIN 
(SELECT * FROM 
(SELECT "trace" AS c339, "node" AS c340 FROM "evidence/restored")) ON ((c320 = c339) AND (c321 = c340))))))) ON (((c291 = c320) AND (c292 = c321)) AND (c297 = c322)))))))
UNION ALL SELECT c349 AS c47, c350 AS c48, c352 AS c50, c351 AS c49, c375 AS c51, c376 AS c54, c377 AS c82, c378 AS c113, c379 AS c195, c380 AS c242, c381 AS c286, c353 AS c346 FROM 
(SELECT c349, c350, c352, c351, CAST(NULL AS VARCHAR) AS c375, CAST(NULL AS STRUCT("seq" BIGINT, "row" STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[])) AS c376, CAST(NULL AS BOOLEAN) AS c377, CAST(NULL AS BIGINT) AS c378, CAST(NULL AS BIGINT) AS c379, CAST(NULL AS STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[]) AS c380, CAST(NULL AS STRUCT("seq" BIGINT, "row" STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[])) AS c381, c353 FROM 
(SELECT c349, c350, c352, c351, c353 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c349, c350, c351, c352, TRUE AS c353 FROM 
(SELECT c349, c350, c351, c352 FROM 
(SELECT "trace" AS c349, "node" AS c350, "type" AS c348, "seq" AS c351, "store" AS c352, "family" AS c347 FROM "silver/events") WHERE ((c347 IN ('replication')) AND (c348 IN ('store.deleted')))))) SEMI JOIN 
(SELECT * FROM 
(SELECT DISTINCT c354, c355, c356 FROM 
(SELECT c354, c355, c356 FROM 
(SELECT c354, c355, c356 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c354 AS c354, c355 AS c355, c356 AS c356 FROM 
(SELECT c354, c355, (c358)."store" AS c356 FROM 
(SELECT c354, c355, c358 FROM 
(SELECT * EXCLUDE (uc357), uc357.place::INTEGER AS c357, uc357.of AS c358 FROM (SELECT *, unnest(list_transform(c361, lambda pe, pi: {'place': pi - 1, 'of': pe})) AS uc357 FROM 
(SELECT c354, c355, c361 FROM 
(SELECT "trace" AS c354, "node" AS c355, "type" AS c360, "candidates" AS c361, "family" AS c359 FROM "silver/events") WHERE ((c359 IN ('replication')) AND (c360 IN ('sources.considered'))))))))
UNION ALL SELECT c364 AS c354, c365 AS c355, c367 AS c356 FROM 
(SELECT c364, c365, c367 FROM 
(SELECT c364, c365, c367 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c364, c365 FROM 
(SELECT c364, c365 FROM 
(SELECT "trace" AS c364, "node" AS c365, "type" AS c363, "family" AS c362 FROM "silver/events") WHERE ((c362 IN ('replication')) AND (c363 IN ('entry.made')))))) JOIN 
(SELECT * FROM 
(SELECT DISTINCT c366, c367, c368 FROM 
(SELECT c366, c367, c368 FROM 
(SELECT c366, c367, c368 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT DISTINCT c366, c367, c369 FROM 
(SELECT c366, c367, c369 FROM 
(SELECT "trace" AS c366, "store" AS c367, "site" AS c369 FROM "organization/members")))) JOIN 
(SELECT * FROM 
(SELECT c370, c371 AS c368, c372 FROM 
(SELECT DISTINCT c370, c371, c372 FROM 
(SELECT c370, c371, c372 FROM 
(SELECT "trace" AS c370, "store" AS c371, "site" AS c372 FROM "organization/members"))))) ON ((c366 = c370) AND (c369 = c372)))) WHERE (NOT (c367 = c368))))) ON ((c364 = c366) AND (c365 = c368))))))) ANTI JOIN 
(SELECT * FROM 
(SELECT "trace" AS c373, "node" AS c374 FROM "evidence/restored")) ON ((c354 = c373) AND (c355 = c374))))))) ON (((c349 = c354) AND (c350 = c355)) AND (c352 = c356)))))))))
UNION ALL SELECT c392 AS c8, c393 AS c9, c394 AS c10, c420 AS c11, c396 AS c12, c421 AS c13, c422 AS c15, c423 AS c1, c424 AS c4, c425 AS c5, c426 AS c16, c427 AS c38, c428 AS c39, c429 AS c40, c430 AS c41, c431 AS c42, c432 AS c43, c433 AS c44, c397 AS c388 FROM 
(SELECT c392, c393, c394, CAST(NULL AS BIGINT) AS c420, c396, CAST(NULL AS BIGINT) AS c421, CAST(NULL AS VARCHAR) AS c422, CAST(NULL AS VARCHAR) AS c423, CAST(NULL AS INTEGER) AS c424, CAST(NULL AS STRUCT("store" VARCHAR, "down" BOOLEAN, "preferred" BOOLEAN, "cost" BIGINT, "version" VARCHAR, "has" BIGINT, "passed_over" VARCHAR, "site" VARCHAR, "near" BOOLEAN, "group" BIGINT, "has_all" BOOLEAN, "affinity" BIGINT, "transit_us" BIGINT, "backfilled_at" BIGINT, "guid" VARCHAR, "active" BOOLEAN, "added_at" BIGINT, "leaving" BOOLEAN)) AS c425, CAST(NULL AS VARCHAR) AS c426, CAST(NULL AS STRUCT("seq" BIGINT, "row" STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[])) AS c427, CAST(NULL AS BOOLEAN) AS c428, CAST(NULL AS BIGINT) AS c429, CAST(NULL AS BIGINT) AS c430, CAST(NULL AS STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[]) AS c431, CAST(NULL AS STRUCT("seq" BIGINT, "row" STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[])) AS c432, CAST(NULL AS BOOLEAN) AS c433, c397 FROM 
(SELECT c392, c396, c393, c394, c397 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c392, c393, c394, c395 AS c396, c394 AS c397 FROM 
(SELECT c392, c393, c394, c389, c395 FROM 
(SELECT "trace" AS c392, "node" AS c393, "type" AS c391, "seq" AS c394, "folder" AS c389, "object" AS c395, "family" AS c390 FROM "silver/events") WHERE ((c390 IN ('change')) AND (c391 IN ('change.made', 'version.applied')))) WHERE (c389 = '1-1'))) SEMI JOIN 
(SELECT * FROM 
(SELECT DISTINCT c398, c399 FROM 
(SELECT c398, c399 FROM 
(SELECT c398, c399 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c398 AS c398, c404 AS c404, c399 AS c399 FROM 
(SELECT c398, c404, c399 FROM 
(SELECT c398, c404, c399 FROM 
(SELECT * EXCLUDE (uc400), uc400.place::INTEGER AS c400, uc400.of AS c401 FROM (SELECT *, unnest(list_transform(c405, lambda pe, pi: {'place': pi - 1, 'of': pe})) AS uc400 FROM 
(SELECT c398, c404, c399, c405 FROM 
(SELECT "trace" AS c398, "node" AS c404, "type" AS c403, "folder" AS c399, "candidates" AS c405, "family" AS c402 FROM "silver/events") WHERE ((c402 IN ('replication')) AND (c403 IN ('sources.considered'))))))))
UNION ALL SELECT c408 AS c398, c409 AS c404, c410 AS c399 FROM 
(SELECT c408, c409, c410 FROM 
(SELECT c408, c409, c410 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c408, c409, c410 FROM 
(SELECT c408, c409, c410 FROM 
(SELECT "trace" AS c408, "node" AS c409, "type" AS c407, "folder" AS c410, "family" AS c406 FROM "silver/events") WHERE ((c406 IN ('replication')) AND (c407 IN ('entry.made')))))) JOIN 
(SELECT * FROM 
(SELECT DISTINCT c411, c412, c413 FROM 
(SELECT c411, c412, c413 FROM 
(SELECT c411, c412, c413 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT DISTINCT c411, c412, c414 FROM 
(SELECT c411, c412, c414 FROM 
(SELECT "trace" AS c411, "store" AS c412, "site" AS c414 FROM "organization/members")))) JOIN 
(SELECT * FROM 
(SELECT c415, c416 AS c413, c417 FROM 
(SELECT DISTINCT c415, c416, c417 FROM 
(SELECT c415, c416, c417 FROM 
(SELECT "trace" AS c415, "store" AS c416, "site" AS c417 FROM "organization/members"))))) ON ((c411 = c415) AND (c414 = c417)))) WHERE (NOT (c412 = c413))))) ON ((c408 = c411) AND (c409 = c413))))))) ANTI JOIN 
(SELECT * FROM 
(SELECT "trace" AS c418, "node" AS c419 FROM "evidence/restored")) ON ((c398 = c418) AND (c404 = c419))))))) ON ((c392 = c398) AND (c396 = c399)))))))
UNION ALL SELECT c437 AS c8, c438 AS c9, c439 AS c10, c450 AS c11, c451 AS c12, c452 AS c13, c453 AS c15, c454 AS c1, c455 AS c4, c456 AS c5, c457 AS c16, c458 AS c38, c459 AS c39, c460 AS c40, c461 AS c41, c462 AS c42, c463 AS c43, c464 AS c44, c465 AS c388, c449 AS c434 FROM 
(SELECT c437, c438, c439, CAST(NULL AS BIGINT) AS c450, CAST(NULL AS VARCHAR) AS c451, CAST(NULL AS BIGINT) AS c452, CAST(NULL AS VARCHAR) AS c453, CAST(NULL AS VARCHAR) AS c454, CAST(NULL AS INTEGER) AS c455, CAST(NULL AS STRUCT("store" VARCHAR, "down" BOOLEAN, "preferred" BOOLEAN, "cost" BIGINT, "version" VARCHAR, "has" BIGINT, "passed_over" VARCHAR, "site" VARCHAR, "near" BOOLEAN, "group" BIGINT, "has_all" BOOLEAN, "affinity" BIGINT, "transit_us" BIGINT, "backfilled_at" BIGINT, "guid" VARCHAR, "active" BOOLEAN, "added_at" BIGINT, "leaving" BOOLEAN)) AS c456, CAST(NULL AS VARCHAR) AS c457, CAST(NULL AS STRUCT("seq" BIGINT, "row" STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[])) AS c458, CAST(NULL AS BOOLEAN) AS c459, CAST(NULL AS BIGINT) AS c460, CAST(NULL AS BIGINT) AS c461, CAST(NULL AS STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[]) AS c462, CAST(NULL AS STRUCT("seq" BIGINT, "row" STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[])) AS c463, CAST(NULL AS BOOLEAN) AS c464, CAST(NULL AS BIGINT) AS c465, c449 FROM 
(SELECT c437, c438, c439, {'store': c440} AS c449 FROM 
(SELECT c437 AS c437, c438 AS c438, c439 AS c439, c440 AS c440 FROM 
(SELECT c437, c438, c439, CAST(NULL AS VARCHAR) AS c440 FROM 
(SELECT c437, c438, c439 FROM 
(SELECT "trace" AS c437, "node" AS c438, "type" AS c436, "seq" AS c439, "family" AS c435 FROM "silver/events") WHERE ((c435 IN ('run')) AND (c436 IN ('node.started')))))
UNION ALL SELECT c444 AS c437, c445 AS c438, c446 AS c439, c448 AS c440 FROM 
(SELECT c444, c445, c446, c448 FROM 
(SELECT c444, c445, c446, c447 AS c448 FROM 
(SELECT c444, c445, c446, c441, c447 FROM 
(SELECT "trace" AS c444, "node" AS c445, "type" AS c443, "seq" AS c446, "name" AS c441, "value" AS c447, "family" AS c442 FROM "silver/events") WHERE ((c442 IN ('run')) AND (c443 IN ('setting.value')))) WHERE (c441 = 'Preferred Backfill Source'))))))))
UNION ALL SELECT c469 AS c8, c470 AS c9, c471 AS c10, c473 AS c11, c474 AS c12, c475 AS c13, c476 AS c15, c477 AS c1, c478 AS c4, c479 AS c5, c480 AS c16, c481 AS c38, c482 AS c39, c483 AS c40, c484 AS c41, c485 AS c42, c486 AS c43, c487 AS c44, c488 AS c388, c489 AS c434, c472 AS c466 FROM 
(SELECT c469, c470, c471, CAST(NULL AS BIGINT) AS c473, CAST(NULL AS VARCHAR) AS c474, CAST(NULL AS BIGINT) AS c475, CAST(NULL AS VARCHAR) AS c476, CAST(NULL AS VARCHAR) AS c477, CAST(NULL AS INTEGER) AS c478, CAST(NULL AS STRUCT("store" VARCHAR, "down" BOOLEAN, "preferred" BOOLEAN, "cost" BIGINT, "version" VARCHAR, "has" BIGINT, "passed_over" VARCHAR, "site" VARCHAR, "near" BOOLEAN, "group" BIGINT, "has_all" BOOLEAN, "affinity" BIGINT, "transit_us" BIGINT, "backfilled_at" BIGINT, "guid" VARCHAR, "active" BOOLEAN, "added_at" BIGINT, "leaving" BOOLEAN)) AS c479, CAST(NULL AS VARCHAR) AS c480, CAST(NULL AS STRUCT("seq" BIGINT, "row" STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[])) AS c481, CAST(NULL AS BOOLEAN) AS c482, CAST(NULL AS BIGINT) AS c483, CAST(NULL AS BIGINT) AS c484, CAST(NULL AS STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[]) AS c485, CAST(NULL AS STRUCT("seq" BIGINT, "row" STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[])) AS c486, CAST(NULL AS BOOLEAN) AS c487, CAST(NULL AS BIGINT) AS c488, CAST(NULL AS STRUCT("store" VARCHAR)) AS c489, c472 FROM 
(SELECT c469, c470, c471, c472 FROM 
(SELECT c469, c470, c471, c472 FROM 
(SELECT "trace" AS c469, "node" AS c470, "type" AS c468, "seq" AS c471, "revision" AS c472, "family" AS c467 FROM "silver/events") WHERE ((c467 IN ('run')) AND (c468 IN ('organization.read'))))))))))))))))))))))))))))))))))))))))))))))))) WHERE (c1 IS NOT NULL)))))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c513, c514, c515, c516, c517, c518 FROM 
(SELECT "trace" AS c513, "revision" AS c514, "node" AS c515, "store" AS c516, "cost" AS c517, "affinity" AS c518 FROM "organization/costs"))) ON ((((c8 = c513) AND (c494 = c514)) AND (c9 = c515)) AND (c16 = c516))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c519, c520, c521, c522, c2 FROM 
(SELECT "trace" AS c519, "revision" AS c520, "store" AS c521, "site" AS c2, "version" AS c522 FROM "organization/members"))) ON (((c8 = c519) AND (c494 = c520)) AND (c16 = c521))))) JOIN 
(SELECT * FROM 
(SELECT c523, c524 AS c526, c525 AS c3 FROM 
(SELECT "trace" AS c523, "store" AS c524, "site" AS c525 FROM "organization/servers"))) ON ((c8 = c523) AND (c9 = c526)))) WHERE ((c1 = 'choice') OR (c2 = c3))));

-- table evidence/listed
-- columns "trace" VARCHAR, "node" VARCHAR, "seq" BIGINT, "at" BIGINT, "incarnation" BIGINT, "mail" VARCHAR, "message_type" BIGINT, "marks" VARCHAR[], "to" VARCHAR[], "folder" VARCHAR, "what" VARCHAR, "sender" VARCHAR, "chosen" VARCHAR[], "method" VARCHAR, "limit" BIGINT, "object" VARCHAR, "versions" VARCHAR[], "number" VARCHAR, "winner" VARCHAR, "since_at" BIGINT, "limit_us" BIGINT, "by" VARCHAR, "had" VARCHAR, "holders" VARCHAR[], "untouched" BOOLEAN, "dead" BOOLEAN, "alone_at" BIGINT, "reached" VARCHAR[], "in_tree" BOOLEAN, "answerable" BOOLEAN
SELECT c5 AS "trace", c6 AS "node", c8 AS "seq", c9 AS "at", c7 AS "incarnation", c10 AS "mail", c12 AS "message_type", c14 AS "marks", c16 AS "to", c2 AS "folder", c1 AS "what", c18 AS "sender", c36 AS "chosen", c37 AS "method", c38 AS "limit", c56 AS "object", c57 AS "versions", c78 AS "number", c79 AS "winner", c80 AS "since_at", c81 AS "limit_us", c105 AS "by", c229 AS "had", c332 AS "holders", c321 AS "untouched", c322 AS "dead", c319 AS "alone_at", c357 AS "reached", c362 AS "in_tree", c367 AS "answerable" FROM (SELECT c5, c6, c8, c9, c7, c10, c12, c14, c16, c2, c1, c18, c36, c37, c38, c56, c57, c78, c79, c80, c81, c105, c229, c332, c321, c322, c319, c357, c362, c367 FROM 
(SELECT c5, c6, c8, c9, c7, c10, c12, c14, c16, c2, c1, c18, c36, c37, c38, c56, c57, c78, c79, c80, c81, c105, c229, c332, c321, c322, c319, c357, c362, c367 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c5, c6, c8, c9, c7, c10, c12, c14, c16, c2, c1, c18, c36, c37, c38, c56, c57, c78, c79, c80, c81, c105, c229, c332, c321, c322, c319, c357, c362, (((c336 IS NULL) OR (coalesce((list_extract(list_filter(c336, lambda v368: (((v368)."store" = c6) AND ((v368)."seq" < c8))), (-1)))."has", FALSE) AND coalesce((list_extract(list_filter(c336, lambda v369: (((v369)."store" = c18) AND ((v369)."seq" < c8))), (-1)))."has", FALSE))) AND ((c352 IS NULL) OR CASE WHEN (c2 = '1-1') THEN ((c18 = c6) OR coalesce((list_extract(list_filter(c352, lambda v370: (((v370)."store" = c18) AND ((v370)."seq" < c8))), (-1)))."linked", TRUE)) ELSE list_all(list_transform(coalesce(c332, CAST([] AS VARCHAR[])), lambda v371: ((v371 = c6) OR coalesce((list_extract(list_filter(c352, lambda v372: (((v372)."store" = v371) AND ((v372)."seq" < c8))), (-1)))."linked", TRUE)))) END)) AS c367 FROM 
(SELECT c5, c6, c8, c9, c7, c10, c12, c14, c16, c2, c1, c18, c36, c37, c38, c56, c57, c78, c79, c80, c81, c105, c229, c332, c321, c322, c319, c336, c352, c357, CASE WHEN (c352 IS NULL) THEN CAST(NULL AS BOOLEAN) ELSE list_all(list_transform(c16, lambda v363: ((c352 IS NULL) OR CASE WHEN (c2 = '1-1') THEN ((v363 = c6) OR coalesce((list_extract(list_filter(c352, lambda v364: (((v364)."store" = v363) AND ((v364)."seq" < c8))), (-1)))."linked", TRUE)) ELSE list_all(list_transform(coalesce(c332, CAST([] AS VARCHAR[])), lambda v365: ((v365 = c6) OR coalesce((list_extract(list_filter(c352, lambda v366: (((v366)."store" = v365) AND ((v366)."seq" < c8))), (-1)))."linked", TRUE)))) END))) END AS c362 FROM 
(SELECT c5, c6, c8, c9, c7, c10, c12, c14, c16, c2, c1, c18, c36, c37, c38, c56, c57, c78, c79, c80, c81, c105, c229, c332, c321, c322, c319, c336, c352, list_filter(c354, lambda v358: ((c352 IS NULL) OR CASE WHEN (c2 = '1-1') THEN ((v358 = c6) OR coalesce((list_extract(list_filter(c352, lambda v359: (((v359)."store" = v358) AND ((v359)."seq" < c8))), (-1)))."linked", TRUE)) ELSE list_all(list_transform(coalesce(c332, CAST([] AS VARCHAR[])), lambda v360: ((v360 = c6) OR coalesce((list_extract(list_filter(c352, lambda v361: (((v361)."store" = v360) AND ((v361)."seq" < c8))), (-1)))."linked", TRUE)))) END)) AS c357 FROM 
(SELECT c5, c6, c8, c9, c7, c10, c12, c14, c16, c2, c1, c18, c36, c37, c38, c56, c57, c78, c79, c80, c81, c105, c229, c332, c321, c322, c319, c336, c352, CASE WHEN (c336 IS NULL) THEN c332 ELSE list_filter(c332, lambda v355: coalesce((list_extract(list_filter(c336, lambda v356: (((v356)."store" = v355) AND ((v356)."seq" < c8))), (-1)))."has", FALSE)) END AS c354 FROM 
(SELECT c5, c6, c8, c9, c7, c10, c12, c14, c16, c2, c1, c18, c36, c37, c38, c56, c57, c78, c79, c80, c81, c105, c229, c332, c321, c322, c319, c336, c352 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c5, c6, c8, c9, c7, c10, c12, c14, c16, c2, c1, c18, c36, c37, c38, c56, c57, c78, c79, c80, c81, c105, c229, c332, c321, c322, c319, c336 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c5, c6, c8, c9, c7, c10, c12, c14, c16, c2, c1, c18, c36, c37, c38, c56, c57, c78, c79, c80, c81, c105, c229, CASE WHEN (c331 IS NULL) THEN c320 ELSE list_filter(c320, lambda v333: (NOT list_any(list_transform(c331, lambda v334: (((v334)."store" = v333) AND ((c8 >= add_wrapped((v334)."seq", (1)::BIGINT)) AND (c8 <= (v334)."until"))))))) END AS c332, c321, c322, c319 FROM 
(SELECT c5, c6, c8, c9, c7, c10, c12, c14, c16, c2, c1, c18, c36, c37, c38, c56, c57, c78, c79, c80, c81, c105, c229, c320, c321, c322, c319, c331 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c5, c6, c8, c9, c7, c10, c12, c14, c16, c2, c1, c18, c36, c37, c38, c56, c57, c78, c79, c80, c81, c105, c229, c320, c321, c322, c319 FROM 
(SELECT c5, c6, c8, c9, c7, c10, c12, c14, c16, c2, c1, c18, c36, c37, c38, c56, c57, c78, c79, c80, c81, c105, c229, c319, CASE WHEN (c2 = '1-1') THEN list_sort(c315, 'ASC', 'NULLS LAST') ELSE c316 END AS c320, (c317 <= (1)::BIGINT) AS c321, coalesce(c318, FALSE) AS c322, c319 FROM 
(SELECT *, coalesce(list(DISTINCT c258) FILTER (WHERE c258 IS NOT NULL) OVER (PARTITION BY c5, c6, c2 ORDER BY c8 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), []) AS c315, last_value(c256 IGNORE NULLS) OVER (PARTITION BY c5, c6, c2 ORDER BY c8 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS c316, count(c256) OVER (PARTITION BY c5, c6, c2 ORDER BY c8 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS c317, max(c257) OVER (PARTITION BY c5, c6, c2 ORDER BY c8 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS c318, min(c314) OVER (PARTITION BY c5, c6, c2 ORDER BY c8 ASC NULLS FIRST ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) AS c319 FROM 
(SELECT c5, c6, c8, c9, c7, c10, c12, c14, c16, c2, c1, c18, c36, c37, c38, c56, c57, c78, c79, c80, c81, c105, c229, c256, c257, c258, CASE WHEN (coalesce(len(list_except(c256, [c6]))::INTEGER, -1) = 0) THEN c9 ELSE CAST(NULL AS BIGINT) END AS c314 FROM 
(SELECT c5 AS c5, c6 AS c6, c8 AS c8, c9 AS c9, c7 AS c7, c10 AS c10, c12 AS c12, c14 AS c14, c16 AS c16, c2 AS c2, c1 AS c1, c18 AS c18, c36 AS c36, c37 AS c37, c38 AS c38, c56 AS c56, c57 AS c57, c78 AS c78, c79 AS c79, c80 AS c80, c81 AS c81, c105 AS c105, c229 AS c229, c256 AS c256, c257 AS c257, c258 AS c258 FROM 
(SELECT c5, c6, c8, c9, c7, c10, c12, c14, c16, c2, c1, c18, c36, c37, c38, c56, c57, c78, c79, c80, c81, c105, c229, CAST(NULL AS VARCHAR[]) AS c256, CAST(NULL AS BOOLEAN) AS c257, CAST(NULL AS VARCHAR) AS c258 FROM 
(SELECT c5 AS c5, c6 AS c6, c8 AS c8, c9 AS c9, c7 AS c7, c10 AS c10, c12 AS c12, c14 AS c14, c16 AS c16, c2 AS c2, c1 AS c1, c18 AS c18, c36 AS c36, c37 AS c37, c38 AS c38, c56 AS c56, c57 AS c57, c78 AS c78, c79 AS c79, c80 AS c80, c81 AS c81, c105 AS c105, c229 AS c229 FROM 
(SELECT c5, c6, c8, c9, c7, c10, c12, c14, c16, c2, c1, c18, c36, c37, c38, c56, c57, c78, c79, c80, c81, c105, CAST(NULL AS VARCHAR) AS c229 FROM 
(SELECT c5 AS c5, c6 AS c6, c8 AS c8, c9 AS c9, c7 AS c7, c10 AS c10, c12 AS c12, c14 AS c14, c16 AS c16, c2 AS c2, c1 AS c1, c18 AS c18, c36 AS c36, c37 AS c37, c38 AS c38, c56 AS c56, c57 AS c57, c78 AS c78, c79 AS c79, c80 AS c80, c81 AS c81, c105 AS c105 FROM 
(SELECT c5, c6, c8, c9, c7, c10, c12, c14, c16, c2, c1, c18, c36, c37, c38, c56, c57, c78, c79, c80, c81, CAST(NULL AS VARCHAR) AS c105 FROM 
(SELECT c5 AS c5, c6 AS c6, c8 AS c8, c9 AS c9, c7 AS c7, c10 AS c10, c12 AS c12, c14 AS c14, c16 AS c16, c2 AS c2, c1 AS c1, c18 AS c18, c36 AS c36, c37 AS c37, c38 AS c38, c56 AS c56, c57 AS c57, c78 AS c78, c79 AS c79, c80 AS c80, c81 AS c81 FROM 
(SELECT c5, c6, c8, c9, c7, c10, c12, c14, c16, c2, c1, c18, c36, c37, c38, c56, c57, CAST(NULL AS VARCHAR) AS c78, CAST(NULL AS VARCHAR) AS c79, CAST(NULL AS BIGINT) AS c80, CAST(NULL AS BIGINT) AS c81 FROM 
(SELECT c5 AS c5, c6 AS c6, c8 AS c8, c9 AS c9, c7 AS c7, c10 AS c10, c12 AS c12, c14 AS c14, c16 AS c16, c2 AS c2, c1 AS c1, c18 AS c18, c36 AS c36, c37 AS c37, c38 AS c38, c56 AS c56, c57 AS c57 FROM 
(SELECT c5, c6, c8, c9, c7, c10, c12, c14, c16, c2, c1, c18, c36, c37, c38, CAST(NULL AS VARCHAR) AS c56, CAST(NULL AS VARCHAR[]) AS c57 FROM 
(SELECT c5 AS c5, c6 AS c6, c8 AS c8, c9 AS c9, c7 AS c7, c10 AS c10, c12 AS c12, c14 AS c14, c16 AS c16, c2 AS c2, c1 AS c1, c18 AS c18, c36 AS c36, c37 AS c37, c38 AS c38 FROM 
(SELECT c5, c6, c8, c9, c7, c10, c12, c14, c16, c2, c1, c18, CAST(NULL AS VARCHAR[]) AS c36, CAST(NULL AS VARCHAR) AS c37, CAST(NULL AS BIGINT) AS c38 FROM 
(SELECT c5 AS c5, c6 AS c6, c8 AS c8, c9 AS c9, c7 AS c7, c10 AS c10, c12 AS c12, c14 AS c14, c16 AS c16, c2 AS c2, c1 AS c1, c18 AS c18 FROM 
(SELECT c5, c6, c8, c9, c7, c10, c12, c14, c16, c2, c1, CAST(NULL AS VARCHAR) AS c18 FROM 
(SELECT c5, c6, c8, c9, c7, c10, c12, c14, list_sort(list_transform(c11, lambda v17: regexp_replace(v17, '(-IS)?@[^\n\r\x{85}\x{2028}\x{2029}]*\z', '', 'g')), 'ASC', 'NULLS LAST') AS c16, c2, 'mail' AS c1 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest(list_transform(list_from_json(c13, '"STRUCT(\"folder\" VARCHAR, \"cnset\" VARCHAR, \"cnset_fai\" VARCHAR, \"row\" VARCHAR, \"row_fai\" VARCHAR, \"updates\" BIGINT, \"expired\" VARCHAR, \"expired_fai\" VARCHAR)[]"'), lambda v15: (v15)."folder")) AS uc2 FROM 
(SELECT "trace" AS c5, "node" AS c6, "type" AS c4, "incarnation" AS c7, "seq" AS c8, "at" AS c9, "mail" AS c10, "recipients" AS c11, "message_type" AS c12, "folders" AS c13, "marks" AS c14, "family" AS c3 FROM "silver/events") WHERE ((c3 IN ('mail')) AND (c4 IN ('mail.submitted')))))))
UNION ALL SELECT c24 AS c5, c25 AS c6, c26 AS c8, c27 AS c9, c34 AS c7, c28 AS c10, c20 AS c12, c21 AS c14, c35 AS c16, c19 AS c2, c33 AS c1, c30 AS c18 FROM 
(SELECT c24, c25, c26, c27, CAST(NULL AS BIGINT) AS c34, c28, c20, c21, CAST(NULL AS VARCHAR[]) AS c35, c19, c33, c30 FROM 
(SELECT c24, c25, c26, c27, c28, c20, c21, c30, c19, 'received' AS c33 FROM 
(SELECT * EXCLUDE (uc19), uc19 AS c19 FROM (SELECT *, unnest(list_transform(c31, lambda v32: (v32)."folder")) AS uc19 FROM 
(SELECT c24, c25, c26, c27, c28, c30, c20, list_from_json(c29, '"STRUCT(\"folder\" VARCHAR, \"cnset\" VARCHAR, \"cnset_fai\" VARCHAR, \"row\" VARCHAR, \"row_fai\" VARCHAR, \"updates\" BIGINT, \"expired\" VARCHAR, \"expired_fai\" VARCHAR)[]"') AS c31, c21 FROM 
(SELECT "trace" AS c24, "node" AS c25, "type" AS c23, "seq" AS c26, "at" AS c27, "mail" AS c28, "message_type" AS c20, "folders" AS c29, "marks" AS c21, "sender" AS c30, "family" AS c22 FROM "silver/events") WHERE ((c22 IN ('mail')) AND (c23 IN ('mail.received')))) WHERE ((c20 = (16)::BIGINT) OR list_contains_or_null(c21, 'repeat'))))))))
UNION ALL SELECT c41 AS c5, c42 AS c6, c43 AS c8, c44 AS c9, c50 AS c7, c51 AS c10, c52 AS c12, c53 AS c14, c54 AS c16, c45 AS c2, c49 AS c1, c55 AS c18, c46 AS c36, c47 AS c37, c48 AS c38 FROM 
(SELECT c41, c42, c43, c44, CAST(NULL AS BIGINT) AS c50, CAST(NULL AS VARCHAR) AS c51, CAST(NULL AS BIGINT) AS c52, CAST(NULL AS VARCHAR[]) AS c53, CAST(NULL AS VARCHAR[]) AS c54, c45, c49, CAST(NULL AS VARCHAR) AS c55, c46, c47, c48 FROM 
(SELECT c41, c42, c43, c44, c45, c46, c47, c48, 'responders' AS c49 FROM 
(SELECT c41, c42, c43, c44, c45, c46, c47, c48 FROM 
(SELECT "trace" AS c41, "node" AS c42, "type" AS c40, "seq" AS c43, "at" AS c44, "folder" AS c45, "chosen" AS c46, "method" AS c47, "limit" AS c48, "family" AS c39 FROM "silver/events") WHERE ((c39 IN ('replication')) AND (c40 IN ('responders.considered'))))))))
UNION ALL SELECT c60 AS c5, c61 AS c6, c62 AS c8, c63 AS c9, c69 AS c7, c70 AS c10, c71 AS c12, c72 AS c14, c73 AS c16, c64 AS c2, c68 AS c1, c74 AS c18, c75 AS c36, c76 AS c37, c77 AS c38, c65 AS c56, c67 AS c57 FROM 
(SELECT c60, c61, c62, c63, CAST(NULL AS BIGINT) AS c69, CAST(NULL AS VARCHAR) AS c70, CAST(NULL AS BIGINT) AS c71, CAST(NULL AS VARCHAR[]) AS c72, CAST(NULL AS VARCHAR[]) AS c73, c64, c68, CAST(NULL AS VARCHAR) AS c74, CAST(NULL AS VARCHAR[]) AS c75, CAST(NULL AS VARCHAR) AS c76, CAST(NULL AS BIGINT) AS c77, c65, c67 FROM 
(SELECT c60, c61, c62, c63, c64, c65, list_sort(c66, 'ASC', 'NULLS LAST') AS c67, CASE WHEN (c59 = 'conflict.arose') THEN 'conflict' ELSE 'notice' END AS c68 FROM 
(SELECT c60, c59, c61, c62, c63, c64, c65, c66 FROM 
(SELECT "trace" AS c60, "node" AS c61, "type" AS c59, "seq" AS c62, "at" AS c63, "folder" AS c64, "object" AS c65, "versions" AS c66, "family" AS c58 FROM "silver/events") WHERE ((c58 IN ('change')) AND (c59 IN ('conflict.arose', 'conflict.notice'))))))))
UNION ALL SELECT c84 AS c5, c85 AS c6, c86 AS c8, c87 AS c9, c95 AS c7, c96 AS c10, c97 AS c12, c98 AS c14, c99 AS c16, c89 AS c2, c94 AS c1, c100 AS c18, c101 AS c36, c102 AS c37, c103 AS c38, c90 AS c56, c104 AS c57, c88 AS c78, c92 AS c79, c93 AS c80, c91 AS c81 FROM 
(SELECT c84, c85, c86, c87, CAST(NULL AS BIGINT) AS c95, CAST(NULL AS VARCHAR) AS c96, CAST(NULL AS BIGINT) AS c97, CAST(NULL AS VARCHAR[]) AS c98, CAST(NULL AS VARCHAR[]) AS c99, c89, c94, CAST(NULL AS VARCHAR) AS c100, CAST(NULL AS VARCHAR[]) AS c101, CAST(NULL AS VARCHAR) AS c102, CAST(NULL AS BIGINT) AS c103, c90, CAST(NULL AS VARCHAR[]) AS c104, c88, c92, c93, c91 FROM 
(SELECT c84, c85, c86, c87, c89, c90, c88, c92, c93, c91, 'aged' AS c94 FROM 
(SELECT c84, c85, c86, c87, c89, c90, c88, c92, c93, c91 FROM 
(SELECT "trace" AS c84, "node" AS c85, "type" AS c83, "seq" AS c86, "at" AS c87, "number" AS c88, "folder" AS c89, "object" AS c90, "limit_us" AS c91, "winner" AS c92, "since_at" AS c93, "family" AS c82 FROM "silver/events") WHERE ((c82 IN ('change')) AND (c83 IN ('conflict.aged'))))))))
UNION ALL SELECT c109 AS c5, c110 AS c6, c111 AS c8, c112 AS c9, c117 AS c7, c118 AS c10, c119 AS c12, c120 AS c14, c121 AS c16, c114 AS c2, c116 AS c1, c122 AS c18, c123 AS c36, c124 AS c37, c125 AS c38, c115 AS c56, c126 AS c57, c113 AS c78, c127 AS c79, c128 AS c80, c129 AS c81, c106 AS c105 FROM 
(SELECT c109, c110, c111, c112, CAST(NULL AS BIGINT) AS c117, CAST(NULL AS VARCHAR) AS c118, CAST(NULL AS BIGINT) AS c119, CAST(NULL AS VARCHAR[]) AS c120, CAST(NULL AS VARCHAR[]) AS c121, c114, c116, CAST(NULL AS VARCHAR) AS c122, CAST(NULL AS VARCHAR[]) AS c123, CAST(NULL AS VARCHAR) AS c124, CAST(NULL AS BIGINT) AS c125, c115, CAST(NULL AS VARCHAR[]) AS c126, c113, CAST(NULL AS VARCHAR) AS c127, CAST(NULL AS BIGINT) AS c128, CAST(NULL AS BIGINT) AS c129, c106 FROM 
(SELECT c109, c110, c111, c112, c114, c115, c113, c106, 'resolved' AS c116 FROM 
(SELECT c109, c110, c111, c112, c114, c115, c113, c106 FROM 
(SELECT "trace" AS c109, "node" AS c110, "type" AS c108, "seq" AS c111, "at" AS c112, "number" AS c113, "folder" AS c114, "object" AS c115, "by" AS c106, "family" AS c107 FROM "silver/events") WHERE ((c107 IN ('change')) AND (c108 IN ('conflict.ended')))) WHERE (NOT (c106 = ''))))
UNION ALL SELECT c132 AS c5, c133 AS c6, c134 AS c8, c135 AS c9, c140 AS c7, c141 AS c10, c142 AS c12, c143 AS c14, c144 AS c16, c137 AS c2, c139 AS c1, c145 AS c18, c146 AS c36, c147 AS c37, c148 AS c38, c138 AS c56, c149 AS c57, c136 AS c78, c150 AS c79, c151 AS c80, c152 AS c81, c153 AS c105 FROM 
(SELECT c132, c133, c134, c135, CAST(NULL AS BIGINT) AS c140, CAST(NULL AS VARCHAR) AS c141, CAST(NULL AS BIGINT) AS c142, CAST(NULL AS VARCHAR[]) AS c143, CAST(NULL AS VARCHAR[]) AS c144, c137, c139, CAST(NULL AS VARCHAR) AS c145, CAST(NULL AS VARCHAR[]) AS c146, CAST(NULL AS VARCHAR) AS c147, CAST(NULL AS BIGINT) AS c148, c138, CAST(NULL AS VARCHAR[]) AS c149, c136, CAST(NULL AS VARCHAR) AS c150, CAST(NULL AS BIGINT) AS c151, CAST(NULL AS BIGINT) AS c152, CAST(NULL AS VARCHAR) AS c153 FROM 
(SELECT c132, c133, c134, c135, c137, c138, c136, 'tombstone' AS c139 FROM 
(SELECT c132, c133, c134, c135, c137, c138, c136 FROM 
(SELECT "trace" AS c132, "node" AS c133, "type" AS c131, "seq" AS c134, "at" AS c135, "number" AS c136, "folder" AS c137, "object" AS c138, "family" AS c130 FROM "silver/events") WHERE ((c130 IN ('change')) AND (c131 IN ('tombstone.dropped'))))))
UNION ALL SELECT c157 AS c5, c158 AS c6, c159 AS c8, c160 AS c9, c164 AS c7, c165 AS c10, c166 AS c12, c167 AS c14, c168 AS c16, c154 AS c2, c163 AS c1, c169 AS c18, c170 AS c36, c171 AS c37, c172 AS c38, c173 AS c56, c174 AS c57, c175 AS c78, c176 AS c79, c177 AS c80, c178 AS c81, c179 AS c105 FROM 
(SELECT c157, c158, c159, c160, CAST(NULL AS BIGINT) AS c164, CAST(NULL AS VARCHAR) AS c165, CAST(NULL AS BIGINT) AS c166, CAST(NULL AS VARCHAR[]) AS c167, CAST(NULL AS VARCHAR[]) AS c168, c154, c163, CAST(NULL AS VARCHAR) AS c169, CAST(NULL AS VARCHAR[]) AS c170, CAST(NULL AS VARCHAR) AS c171, CAST(NULL AS BIGINT) AS c172, CAST(NULL AS VARCHAR) AS c173, CAST(NULL AS VARCHAR[]) AS c174, CAST(NULL AS VARCHAR) AS c175, CAST(NULL AS VARCHAR) AS c176, CAST(NULL AS BIGINT) AS c177, CAST(NULL AS BIGINT) AS c178, CAST(NULL AS VARCHAR) AS c179 FROM 
(SELECT c157, c158, c159, c160, c154, 'due' AS c163 FROM 
(SELECT * EXCLUDE (uc154), uc154 AS c154 FROM (SELECT *, unnest(c162) AS uc154 FROM 
(SELECT c157, c158, c159, c160, list_from_json(c161, '"VARCHAR[]"') AS c162 FROM 
(SELECT "trace" AS c157, "node" AS c158, "type" AS c156, "seq" AS c159, "at" AS c160, "folders" AS c161, "family" AS c155 FROM "silver/events") WHERE ((c155 IN ('replication')) AND (c156 IN ('status.due'))))))))
UNION ALL SELECT c184 AS c5, c181 AS c6, c185 AS c8, c186 AS c9, c189 AS c7, c190 AS c10, c191 AS c12, c192 AS c14, c193 AS c16, c187 AS c2, c188 AS c1, c194 AS c18, c195 AS c36, c196 AS c37, c197 AS c38, c198 AS c56, c199 AS c57, c200 AS c78, c201 AS c79, c202 AS c80, c203 AS c81, c204 AS c105 FROM 
(SELECT c184, c181, c185, c186, CAST(NULL AS BIGINT) AS c189, CAST(NULL AS VARCHAR) AS c190, CAST(NULL AS BIGINT) AS c191, CAST(NULL AS VARCHAR[]) AS c192, CAST(NULL AS VARCHAR[]) AS c193, c187, c188, CAST(NULL AS VARCHAR) AS c194, CAST(NULL AS VARCHAR[]) AS c195, CAST(NULL AS VARCHAR) AS c196, CAST(NULL AS BIGINT) AS c197, CAST(NULL AS VARCHAR) AS c198, CAST(NULL AS VARCHAR[]) AS c199, CAST(NULL AS VARCHAR) AS c200, CAST(NULL AS VARCHAR) AS c201, CAST(NULL AS BIGINT) AS c202, CAST(NULL AS BIGINT) AS c203, CAST(NULL AS VARCHAR) AS c204 FROM 
(SELECT c184, c181, c185, c186, c187, 'added' AS c188 FROM 
(SELECT c184, c181, c185, c186, c187, c180 FROM 
(SELECT "trace" AS c184, "node" AS c181, "type" AS c183, "seq" AS c185, "at" AS c186, "store" AS c180, "folder" AS c187, "family" AS c182 FROM "silver/events") WHERE ((c182 IN ('replication')) AND (c183 IN ('replica.added')))) WHERE (c180 = c181)))
UNION ALL SELECT c207 AS c5, c208 AS c6, c209 AS c8, c210 AS c9, c213 AS c7, c214 AS c10, c215 AS c12, c216 AS c14, c217 AS c16, c211 AS c2, c212 AS c1, c218 AS c18, c219 AS c36, c220 AS c37, c221 AS c38, c222 AS c56, c223 AS c57, c224 AS c78, c225 AS c79, c226 AS c80, c227 AS c81, c228 AS c105 FROM 
(SELECT c207, c208, c209, c210, CAST(NULL AS BIGINT) AS c213, CAST(NULL AS VARCHAR) AS c214, CAST(NULL AS BIGINT) AS c215, CAST(NULL AS VARCHAR[]) AS c216, CAST(NULL AS VARCHAR[]) AS c217, c211, c212, CAST(NULL AS VARCHAR) AS c218, CAST(NULL AS VARCHAR[]) AS c219, CAST(NULL AS VARCHAR) AS c220, CAST(NULL AS BIGINT) AS c221, CAST(NULL AS VARCHAR) AS c222, CAST(NULL AS VARCHAR[]) AS c223, CAST(NULL AS VARCHAR) AS c224, CAST(NULL AS VARCHAR) AS c225, CAST(NULL AS BIGINT) AS c226, CAST(NULL AS BIGINT) AS c227, CAST(NULL AS VARCHAR) AS c228 FROM 
(SELECT c207, c208, c209, c210, c211, 'pending' AS c212 FROM 
(SELECT c207, c208, c209, c210, c211 FROM 
(SELECT "trace" AS c207, "node" AS c208, "type" AS c206, "seq" AS c209, "at" AS c210, "folder" AS c211, "family" AS c205 FROM "silver/events") WHERE ((c205 IN ('replication')) AND (c206 IN ('replica.pending'))))))))
UNION ALL SELECT c232 AS c5, c233 AS c6, c234 AS c8, c235 AS c9, c240 AS c7, c241 AS c10, c242 AS c12, c243 AS c14, c244 AS c16, c236 AS c2, c238 AS c1, c245 AS c18, c246 AS c36, c247 AS c37, c248 AS c38, c249 AS c56, c250 AS c57, c251 AS c78, c252 AS c79, c253 AS c80, c254 AS c81, c255 AS c105, c239 AS c229 FROM 
(SELECT c232, c233, c234, c235, CAST(NULL AS BIGINT) AS c240, CAST(NULL AS VARCHAR) AS c241, CAST(NULL AS BIGINT) AS c242, CAST(NULL AS VARCHAR[]) AS c243, CAST(NULL AS VARCHAR[]) AS c244, c236, c238, CAST(NULL AS VARCHAR) AS c245, CAST(NULL AS VARCHAR[]) AS c246, CAST(NULL AS VARCHAR) AS c247, CAST(NULL AS BIGINT) AS c248, CAST(NULL AS VARCHAR) AS c249, CAST(NULL AS VARCHAR[]) AS c250, CAST(NULL AS VARCHAR) AS c251, CAST(NULL AS VARCHAR) AS c252, CAST(NULL AS BIGINT) AS c253, CAST(NULL AS BIGINT) AS c254, CAST(NULL AS VARCHAR) AS c255, c239 FROM 
(SELECT c232, c233, c234, c235, c236, 'dropped' AS c238, c237 AS c239 FROM 
(SELECT c232, c233, c234, c235, c236, c237 FROM 
(SELECT "trace" AS c232, "node" AS c233, "type" AS c231, "seq" AS c234, "at" AS c235, "folder" AS c236, "cnset" AS c237, "family" AS c230 FROM "silver/events") WHERE ((c230 IN ('replication')) AND (c231 IN ('replica.dropped'))))))))
UNION ALL SELECT c261 AS c5, c267 AS c6, c264 AS c8, c265 AS c9, c296 AS c7, c297 AS c10, c298 AS c12, c299 AS c14, c300 AS c16, c268 AS c2, c301 AS c1, c302 AS c18, c303 AS c36, c304 AS c37, c305 AS c38, c306 AS c56, c307 AS c57, c308 AS c78, c309 AS c79, c310 AS c80, c311 AS c81, c312 AS c105, c313 AS c229, c283 AS c256, c281 AS c257, c284 AS c258 FROM 
(SELECT c261, c267, c264, c265, CAST(NULL AS BIGINT) AS c296, CAST(NULL AS VARCHAR) AS c297, CAST(NULL AS BIGINT) AS c298, CAST(NULL AS VARCHAR[]) AS c299, CAST(NULL AS VARCHAR[]) AS c300, c268, CAST(NULL AS VARCHAR) AS c301, CAST(NULL AS VARCHAR) AS c302, CAST(NULL AS VARCHAR[]) AS c303, CAST(NULL AS VARCHAR) AS c304, CAST(NULL AS BIGINT) AS c305, CAST(NULL AS VARCHAR) AS c306, CAST(NULL AS VARCHAR[]) AS c307, CAST(NULL AS VARCHAR) AS c308, CAST(NULL AS VARCHAR) AS c309, CAST(NULL AS BIGINT) AS c310, CAST(NULL AS BIGINT) AS c311, CAST(NULL AS VARCHAR) AS c312, CAST(NULL AS VARCHAR) AS c313, c283, c281, c284 FROM 
(SELECT c261 AS c261, c267 AS c267, c264 AS c264, c265 AS c265, c268 AS c268, c283 AS c283, c281 AS c281, c284 AS c284 FROM 
(SELECT c261, c267, c264, c265, c268, c283, c281, CAST(NULL AS VARCHAR) AS c284 FROM 
(SELECT c261, c267, c264, c265, c268, c283, c281 FROM 
(SELECT c261, c267, c264, c265, c268, c283, c281 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c261, c262 AS c267, c264, c265, c263 AS c268, c266 AS c269 FROM 
(SELECT "trace" AS c261, "store" AS c262, "folder" AS c259, "object" AS c263, "act" AS c260, "seq" AS c264, "at" AS c265, "number" AS c266 FROM "evidence/versions") WHERE ((c259 = '1-1') AND (c260 IN ('made', 'applied'))))) JOIN 
(SELECT * FROM 
(SELECT c272, c276 AS c282, c280 AS c283, c281 FROM 
(SELECT c272, c276, (c279)."replicas" AS c280, (c279)."deleted" AS c281 FROM 
(SELECT c272, c276, arg_min_null({'replicas': c278, 'deleted': c277}, {n0: c275 IS NOT NULL, v0: c275, n1: c273 IS NOT NULL, v1: c273, n2: c274 IS NOT NULL, v2: c274}) AS c279 FROM 
(SELECT "trace" AS c272, "store" AS c273, "folder" AS c270, "act" AS c271, "seq" AS c274, "at" AS c275, "number" AS c276, "deleted" AS c277, "replicas" AS c278 FROM "evidence/versions") WHERE ((c270 = '1-1') AND (c271 IN ('made', 'applied'))) AND (c271 = 'made') GROUP BY c272, c276)))) ON ((c261 = c272) AND (c269 = c282))))))
UNION ALL SELECT c287 AS c261, c288 AS c267, c289 AS c264, c293 AS c265, c291 AS c268, c294 AS c283, c295 AS c281, c292 AS c284 FROM 
(SELECT c287, c288, c289, CAST(NULL AS BIGINT) AS c293, c291, CAST(NULL AS VARCHAR[]) AS c294, CAST(NULL AS BOOLEAN) AS c295, c292 FROM 
(SELECT c287, c288, c289, '1-1' AS c291, c290 AS c292 FROM 
(SELECT c287, c288, c289, c290 FROM 
(SELECT "trace" AS c287, "node" AS c288, "type" AS c286, "seq" AS c289, "store" AS c290, "family" AS c285 FROM "silver/events") WHERE ((c285 IN ('replication')) AND (c286 IN ('address.stamped', 'address.missing'))))))))))))) WHERE (c1 IS NOT NULL)) LEFT JOIN 
(SELECT * FROM 
(SELECT c325, c326, coalesce(list({'seq': c327, 'until': c330, 'store': c328}), []) AS c331 FROM 
(SELECT c325, c323, c326, c327, c328, c330 FROM 
(SELECT c325, c323, c326, c327, c328, coalesce(c329, 4611686018427387904::BIGINT) AS c330 FROM 
(SELECT *, lead(c327, 1, NULL) OVER (PARTITION BY c325, c326, c328 ORDER BY c327 ASC NULLS FIRST ROWS BETWEEN 1 FOLLOWING AND 1 FOLLOWING) AS c329 FROM 
(SELECT c325, c323, c326, c327, c328 FROM 
(SELECT c325, c323, c326, c327, c328 FROM 
(SELECT "trace" AS c325, "node" AS c326, "type" AS c323, "seq" AS c327, "store" AS c328, "family" AS c324 FROM "silver/events") WHERE ((c324 IN ('replication')) AND (c323 IN ('store.deleted', 'address.stamped', 'address.missing')))))))) WHERE (c323 = 'store.deleted') GROUP BY c325, c326)) ON ((c5 = c325) AND (c6 = c326)))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c339, c340, list_transform(list_sort(list_transform(coalesce(list({'seq': c341, 'store': c342, 'has': c343}), []), lambda v344: {k: CASE WHEN v344 IS NOT NULL THEN {n0: (v344)."seq" IS NOT NULL, v0: (v344)."seq", n1: (v344)."store" IS NOT NULL, v1: (v344)."store", n2: (v344)."has" IS NOT NULL, v2: (v344)."has"} END, v: v344}), 'ASC', 'NULLS LAST'), lambda v344: v344.v) AS c336 FROM 
(SELECT c339, c340, c341, c342, (c338 = 'address.stamped') AS c343 FROM 
(SELECT c339, c338, c340, c341, c342 FROM 
(SELECT "trace" AS c339, "node" AS c340, "type" AS c338, "seq" AS c341, "store" AS c342, "family" AS c337 FROM "silver/events") WHERE ((c337 IN ('replication')) AND (c338 IN ('address.stamped', 'address.missing'))))) GROUP BY c339, c340) WHERE list_any(list_transform(c336, lambda v335: (NOT (v335)."has")))) ON ((c5 = c339) AND (c6 = c340))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c347, c348, list_transform(list_sort(list_transform(coalesce(list({'seq': c349, 'store': c350, 'linked': c351}), []), lambda v353: {k: CASE WHEN v353 IS NOT NULL THEN {n0: (v353)."seq" IS NOT NULL, v0: (v353)."seq", n1: (v353)."store" IS NOT NULL, v1: (v353)."store", n2: (v353)."linked" IS NOT NULL, v2: (v353)."linked"} END, v: v353}), 'ASC', 'NULLS LAST'), lambda v353: v353.v) AS c352 FROM 
(SELECT c347, c348, c349, c350, c351 FROM 
(SELECT "trace" AS c347, "node" AS c348, "type" AS c346, "seq" AS c349, "store" AS c350, "linked" AS c351, "family" AS c345 FROM "silver/events") WHERE ((c345 IN ('replication')) AND (c346 IN ('tree.linked')))) GROUP BY c347, c348)) ON ((c5 = c347) AND (c6 = c348))))))))) ANTI JOIN 
(SELECT * FROM 
(SELECT "trace" AS c373, "node" AS c374 FROM "evidence/restored")) ON ((c5 = c373) AND (c6 = c374)))));

-- table evidence/node_states
-- columns "trace" VARCHAR, "node" VARCHAR, "directory" MAP(VARCHAR, STRUCT("store" VARCHAR, "first" BIGINT, "last" BIGINT, "deleted" BIGINT, "stamps" STRUCT("seq" BIGINT, "address" VARCHAR)[])), "switches" STRUCT("seq" BIGINT, "on" BOOLEAN)[], "version" VARCHAR
SELECT c4 AS "trace", c5 AS "node", c22 AS "directory", c30 AS "switches", c34 AS "version" FROM (SELECT c4, c5, c22, c30, c34 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c4, c5, c22, c30, c34 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c4, c5, c22, c30 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c4, c5, map_from_pairs(coalesce(list({'address': c1, 'of': c21}), [])) AS c22 FROM 
(SELECT c4, c5, c1, arg_min({'store': c7, 'first': c11, 'last': c12, 'deleted': c20, 'stamps': c9}, {n0: c7 IS NOT NULL, v0: c7, n1: c11 IS NOT NULL, v1: c11, n2: c12 IS NOT NULL, v2: c12, n3: c20 IS NOT NULL, v3: c20, n4: c9 IS NOT NULL, v4: list_transform(c9, lambda c9_item: CASE WHEN c9_item IS NOT NULL THEN {n0: (c9_item)."seq" IS NOT NULL, v0: (c9_item)."seq", n1: (c9_item)."address" IS NOT NULL, v1: (c9_item)."address"} END)}) AS c21 FROM 
(SELECT c4, c5, c7, c9, c11, c12, c1, c20 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c4, c5, c7, c9, c11, c12, c1 FROM 
(SELECT c4, c5, c7, c9, c11, c12, c1 FROM 
(SELECT * EXCLUDE (uc1), uc1 AS c1 FROM (SELECT *, unnest(c13) AS uc1 FROM 
(SELECT c4, c5, c7, list_transform(list_sort(list_transform(coalesce(list({'seq': c6, 'address': c8}), []), lambda v10: {k: CASE WHEN v10 IS NOT NULL THEN {n0: (v10)."seq" IS NOT NULL, v0: (v10)."seq", n1: (v10)."address" IS NOT NULL, v1: (v10)."address"} END, v: v10}), 'ASC', 'NULLS LAST'), lambda v10: v10.v) AS c9, min(c6) AS c11, max(c6) AS c12, list_unique([coalesce(max(c8), ('no address of ' || c7))] || list_sort(coalesce(list(DISTINCT c8) FILTER (WHERE c8 IS NOT NULL), []), 'ASC', 'NULLS LAST')) AS c13 FROM 
(SELECT c4, c5, c6, c7, c8 FROM 
(SELECT "trace" AS c4, "node" AS c5, "type" AS c3, "seq" AS c6, "store" AS c7, "address" AS c8, "family" AS c2 FROM "silver/events") WHERE ((c2 IN ('replication')) AND (c3 IN ('address.stamped', 'address.missing')))) GROUP BY c4, c5, c7)))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c16, c17, c19, max(c18) AS c20 FROM 
(SELECT c16, c17, c18, c19 FROM 
(SELECT "trace" AS c16, "node" AS c17, "type" AS c15, "seq" AS c18, "store" AS c19, "family" AS c14 FROM "silver/events") WHERE ((c14 IN ('replication')) AND (c15 IN ('store.deleted')))) GROUP BY c16, c17, c19)) ON (((c4 = c16) AND (c5 = c17)) AND (c7 = c19)))) GROUP BY c4, c5, c1) GROUP BY c4, c5)) LEFT JOIN 
(SELECT * FROM 
(SELECT c26, c27, list_transform(list_sort(list_transform(coalesce(list({'seq': c28, 'on': (c29 = '1')}), []), lambda v31: {k: CASE WHEN v31 IS NOT NULL THEN {n0: (v31)."seq" IS NOT NULL, v0: (v31)."seq", n1: (v31)."on" IS NOT NULL, v1: (v31)."on"} END, v: v31}), 'ASC', 'NULLS LAST'), lambda v31: v31.v) AS c30 FROM 
(SELECT c26, c27, c28, c23, c29 FROM 
(SELECT "trace" AS c26, "node" AS c27, "type" AS c25, "seq" AS c28, "name" AS c23, "value" AS c29, "family" AS c24 FROM "silver/events") WHERE ((c24 IN ('run')) AND (c25 IN ('setting.value')))) WHERE (c23 = 'Content Replication Suspended') GROUP BY c26, c27)) ON ((c4 = c26) AND (c5 = c27))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c32, c33 AS c35, c34 FROM 
(SELECT "trace" AS c32, "store" AS c33, "version" AS c34 FROM "organization/servers"))) ON ((c4 = c32) AND (c5 = c35))))) ANTI JOIN 
(SELECT * FROM 
(SELECT "trace" AS c36, "node" AS c37 FROM "evidence/restored")) ON ((c4 = c36) AND (c5 = c37))));

-- table rules/changes needs change.made
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c5 AS "trace", c142 AS "check", c1 AS "consumed", c143 AS "violations", c144 AS "at", c145 AS "witness" FROM (SELECT * FROM 
(SELECT c5, (c2)."check" AS c142, (c2)."consumed" AS c1, (c2)."violations" AS c143, (c2)."at" AS c144, (c2)."witness" AS c145 FROM 
(SELECT c5, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'numbers are never reissued', 'consumed': c118, 'violations': c119, 'at': (c120)."at", 'witness': (c120)."words"}, {'check': 'numbers have the GUID of their store', 'consumed': c121, 'violations': c122, 'at': (c123)."at", 'witness': (c123)."words"}, {'check': 'changes do what they say', 'consumed': c124, 'violations': c125, 'at': (c126)."at", 'witness': (c126)."words"}, {'check': 'each change takes the next number', 'consumed': c127, 'violations': c128, 'at': (c129)."at", 'witness': (c129)."words"}, {'check': 'predecessor lists are complete', 'consumed': c130, 'violations': c131, 'at': (c132)."at", 'witness': (c132)."words"}, {'check': 'modification times increase', 'consumed': c133, 'violations': c134, 'at': (c135)."at", 'witness': (c135)."words"}, {'check': 'rivals are versions that were not opened', 'consumed': c136, 'violations': c137, 'at': (c138)."at", 'witness': (c138)."words"}, {'check': 'a folder keeps at least one replica', 'consumed': c139, 'violations': c140, 'at': (c141)."at", 'witness': (c141)."words"}]) AS uc2 FROM 
(SELECT c5, count(1) FILTER (WHERE c84) AS c118, count(1) FILTER (WHERE c85) AS c119, arg_min(CASE WHEN c85 THEN {'at': c83, 'words': c86} END, CASE WHEN c85 THEN {n0: c83 IS NOT NULL, v0: c83, n1: c86 IS NOT NULL, v1: c86} END) AS c120, count(1) FILTER (WHERE c87) AS c121, count(1) FILTER (WHERE c88) AS c122, arg_min(CASE WHEN c88 THEN {'at': c83, 'words': c89} END, CASE WHEN c88 THEN {n0: c83 IS NOT NULL, v0: c83, n1: c89 IS NOT NULL, v1: c89} END) AS c123, count(1) FILTER (WHERE c90) AS c124, count(1) FILTER (WHERE c91) AS c125, arg_min(CASE WHEN c91 THEN {'at': c83, 'words': c92} END, CASE WHEN c91 THEN {n0: c83 IS NOT NULL, v0: c83, n1: c92 IS NOT NULL, v1: c92} END) AS c126, count(1) FILTER (WHERE c93) AS c127, count(1) FILTER (WHERE c94) AS c128, arg_min(CASE WHEN c94 THEN {'at': c83, 'words': c95} END, CASE WHEN c94 THEN {n0: c83 IS NOT NULL, v0: c83, n1: c95 IS NOT NULL, v1: c95} END) AS c129, count(1) FILTER (WHERE c96) AS c130, count(1) FILTER (WHERE c97) AS c131, arg_min(CASE WHEN c97 THEN {'at': c83, 'words': c101} END, CASE WHEN c97 THEN {n0: c83 IS NOT NULL, v0: c83, n1: c101 IS NOT NULL, v1: c101} END) AS c132, count(1) FILTER (WHERE c105) AS c133, count(1) FILTER (WHERE c106) AS c134, arg_min(CASE WHEN c106 THEN {'at': c83, 'words': c107} END, CASE WHEN c106 THEN {n0: c83 IS NOT NULL, v0: c83, n1: c107 IS NOT NULL, v1: c107} END) AS c135, count(1) FILTER (WHERE c108) AS c136, count(1) FILTER (WHERE c109) AS c137, arg_min(CASE WHEN c109 THEN {'at': c83, 'words': c112} END, CASE WHEN c109 THEN {n0: c83 IS NOT NULL, v0: c83, n1: c112 IS NOT NULL, v1: c112} END) AS c138, count(1) FILTER (WHERE c115) AS c139, count(1) FILTER (WHERE c116) AS c140, arg_min(CASE WHEN c116 THEN {'at': c83, 'words': c117} END, CASE WHEN c116 THEN {n0: c83 IS NOT NULL, v0: c83, n1: c117 IS NOT NULL, v1: c117} END) AS c141 FROM 
(SELECT c5, c8 AS c83, coalesce(TRUE, FALSE) AS c84, CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce((c25 = (1)::BIGINT), FALSE)) ELSE FALSE END AS c85, CASE WHEN CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce((c25 = (1)::BIGINT), FALSE)) ELSE FALSE END THEN (c6 || ' gave the number ' || c11 || ' to more than one change') END AS c86, coalesce(TRUE, FALSE) AS c87, CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce((c29 = c6), FALSE)) ELSE FALSE END AS c88, CASE WHEN CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce((c29 = c6), FALSE)) ELSE FALSE END THEN (c6 || ' gave a change of ' || c9 || CASE WHEN (c29 IS NULL) THEN ' a number whose GUID no store has' ELSE (' the number ' || c11 || ', with the GUID of ' || c29) END) END AS c89, coalesce(TRUE, FALSE) AS c90, CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce((c12 = CASE WHEN (coalesce(len(c14)::INTEGER, -1) = 0) THEN 'create' ELSE CASE WHEN (c16 = '') THEN 'delete' ELSE 'modify' END END), FALSE)) ELSE FALSE END AS c91, CASE WHEN CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce((c12 = CASE WHEN (coalesce(len(c14)::INTEGER, -1) = 0) THEN 'create' ELSE CASE WHEN (c16 = '') THEN 'delete' ELSE 'modify' END END), FALSE)) ELSE FALSE END THEN (c6 || ' calls ' || c11 || ' ' || CASE WHEN (c12 = 'create') THEN 'a creation' ELSE CASE WHEN (c12 = 'delete') THEN 'a deletion' ELSE 'an edit' END END || ', but it is none') END AS c92, coalesce((c24 IS NOT NULL), FALSE) AS c93, CASE WHEN coalesce((c24 IS NOT NULL), FALSE) THEN (NOT coalesce((c20 = add_wrapped(c24, (1)::BIGINT)), FALSE)) ELSE FALSE END AS c94, CASE WHEN CASE WHEN coalesce((c24 IS NOT NULL), FALSE) THEN (NOT coalesce((c20 = add_wrapped(c24, (1)::BIGINT)), FALSE)) ELSE FALSE END THEN (c6 || ' gave the number ' || c11 || ' directly after ' || (c24)::VARCHAR) END AS c95, coalesce(((coalesce(len(c14)::INTEGER, -1) = 0) OR (c53 = (coalesce(len(c14)::INTEGER, -1))::BIGINT)), FALSE) AS c96, CASE WHEN coalesce(((coalesce(len(c14)::INTEGER, -1) = 0) OR (c53 = (coalesce(len(c14)::INTEGER, -1))::BIGINT)), FALSE) THEN (NOT coalesce((list_all(list_transform(map_entries(c21), lambda v98: ((((v98)."key" = c19) AND ((v98)."value" = c20)) OR list_any(list_transform(c50, lambda v99: (((v99)."key" = (v98)."key") AND ((v99)."value" >= (v98)."value"))))))) AND coalesce(list_all(list_transform(c50, lambda v100: coalesce((map_extract_value(c21, (v100)."key") >= (v100)."value"), FALSE))), TRUE)), FALSE)) ELSE FALSE END AS c97, CASE WHEN CASE WHEN coalesce(((coalesce(len(c14)::INTEGER, -1) = 0) OR (c53 = (coalesce(len(c14)::INTEGER, -1))::BIGINT)), FALSE) THEN (NOT coalesce((list_all(list_transform(map_entries(c21), lambda v102: ((((v102)."key" = c19) AND ((v102)."value" = c20)) OR list_any(list_transform(c50, lambda v103: (((v103)."key" = (v102)."key") AND ((v103)."value" >= (v102)."value"))))))) AND coalesce(list_all(list_transform(c50, lambda v104: coalesce((map_extract_value(c21, (v104)."key") >= (v104)."value"), FALSE))), TRUE)), FALSE)) ELSE FALSE END THEN (c6 || ' made ' || c11 || ' with a predecessor list that does not match the versions that it replaced') END AS c101, coalesce((c49 IS NOT NULL), FALSE) AS c105, CASE WHEN coalesce((c49 IS NOT NULL), FALSE) THEN (NOT coalesce((c13 > c49), FALSE)) ELSE FALSE END AS c106, CASE WHEN CASE WHEN coalesce((c49 IS NOT NULL), FALSE) THEN (NOT coalesce((c13 > c49), FALSE)) ELSE FALSE END THEN (c6 || ' made ' || c11 || ' with a time that is not later than the time of the version that it replaced') END AS c107, coalesce((coalesce(len(coalesce(c18, CAST([] AS VARCHAR[])))::INTEGER, -1) > 0), FALSE) AS c108, CASE WHEN coalesce((coalesce(len(coalesce(c18, CAST([] AS VARCHAR[])))::INTEGER, -1) > 0), FALSE) THEN (NOT coalesce((((NOT (c12 = 'create')) AND (c10 = 'message')) AND (NOT list_any(list_transform(c18, lambda v110: (list_contains_or_null(c14, v110) OR ((NOT list_contains_or_null(coalesce(c52, CAST([] AS VARCHAR[])), v110)) AND list_any(list_transform(coalesce(c50, CAST([] AS STRUCT("key" VARCHAR, "value" BIGINT)[])), lambda v111: (((v111)."key" = split_part(v110, ':', 1)) AND ((v111)."value" >= text_to_bigint(split_part(v110, ':', -1)))))))))))), FALSE)) ELSE FALSE END AS c109, CASE WHEN CASE WHEN coalesce((coalesce(len(coalesce(c18, CAST([] AS VARCHAR[])))::INTEGER, -1) > 0), FALSE) THEN (NOT coalesce((((NOT (c12 = 'create')) AND (c10 = 'message')) AND (NOT list_any(list_transform(c18, lambda v113: (list_contains_or_null(c14, v113) OR ((NOT list_contains_or_null(coalesce(c52, CAST([] AS VARCHAR[])), v113)) AND list_any(list_transform(coalesce(c50, CAST([] AS STRUCT("key" VARCHAR, "value" BIGINT)[])), lambda v114: (((v114)."key" = split_part(v113, ':', 1)) AND ((v114)."value" >= text_to_bigint(split_part(v113, ':', -1)))))))))))), FALSE)) ELSE FALSE END THEN (c6 || ' made ' || c11 || ' from a version that includes one of its rivals') END AS c112, coalesce(((c10 = 'folder') AND (NOT (c12 = 'delete'))), FALSE) AS c115, CASE WHEN coalesce(((c10 = 'folder') AND (NOT (c12 = 'delete'))), FALSE) THEN (NOT coalesce(((coalesce(len(c17)::INTEGER, -1) > 0) OR coalesce((coalesce(len(c82)::INTEGER, -1) = 0), FALSE)), FALSE)) ELSE FALSE END AS c116, CASE WHEN CASE WHEN coalesce(((c10 = 'folder') AND (NOT (c12 = 'delete'))), FALSE) THEN (NOT coalesce(((coalesce(len(c17)::INTEGER, -1) > 0) OR coalesce((coalesce(len(c82)::INTEGER, -1) = 0), FALSE)), FALSE)) ELSE FALSE END THEN (c6 || ' removed the last replica of ' || c9 || ' by the change ' || c11) END AS c117 FROM 
(SELECT c5, c6, c19, c8, c11, c20, c21, c10, c12, c13, c17, c9, c14, c18, c16, c24, c25, c29, c49, c50, c52, c53, c82 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c5, c6, c7, c19, c8, c11, c20, c21, c10, c12, c13, c17, c9, c14, c18, c16, c24, c25, c29, c49, c50, c52, c53 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c5, c19, c6, c7, c8, c11, c20, c21, c10, c12, c13, c17, c9, c14, c18, c16, c24, c25, c29 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c5, c6, c7, c8, c11, c19, c20, c21, c10, c12, c13, c17, c9, c14, c18, c16, c24, c25 FROM 
(SELECT c5, c6, c7, c8, c11, c19, c20, c21, c10, c12, c13, c17, c9, c14, c18, c16, c24, c25, c24, c25 FROM 
(SELECT *, count(1) OVER (PARTITION BY c5, c11) AS c25 FROM 
(SELECT *, lag(c20, 1, NULL) OVER (PARTITION BY c5, c19 ORDER BY c7 ASC NULLS FIRST ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING) AS c24 FROM 
(SELECT c5, c6, c7, c8, c11, c19, c20, c21, c10, c12, c13, c17, c9, c14, c18, c16 FROM 
(SELECT c5, c6, c7, c8, c11, c10, c12, c13, c14, c16, c9, c17, c18, c19, c20, map_from_entries(list_transform(map_entries(text_to_map(c15, ';', ':')), lambda pv22: {'key': pv22.key, 'value': text_to_bigint(pv22.value)})) AS c21 FROM 
(SELECT c5, c6, c7, c8, c11, c10, c12, c13, c14, c15, c16, c9, c17, c18, c19, text_to_bigint(split_part(c11, ':', -1)) AS c20 FROM 
(SELECT c5, c6, c7, c8, c11, c10, c12, c13, c14, c15, c16, c9, c17, c18, split_part(c11, ':', 1) AS c19 FROM 
(SELECT c5, c6, c7, c8, c11, c10, c12, c13, c14, c15, c16, c9, c17, c18 FROM 
(SELECT "trace" AS c5, "node" AS c6, "type" AS c4, "seq" AS c7, "at" AS c8, "subject" AS c9, "kind" AS c10, "number" AS c11, "operation" AS c12, "modified_at" AS c13, "supersedes" AS c14, "pcl" AS c15, "digest" AS c16, "replicas" AS c17, "rivals" AS c18, "family" AS c3 FROM "silver/events") WHERE ((c3 IN ('change')) AND (c4 IN ('change.made'))))))))))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c26, c27, c28 AS c29 FROM 
(SELECT "trace" AS c26, "guid" AS c27, "store" AS c28 FROM "organization/guids"))) ON ((c5 = c26) AND (c19 = c27))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c33, c34, c35, max(c46) AS c49, list_transform(list_sort(list_transform(flatten(coalesce(list(map_entries(c47)) FILTER (WHERE map_entries(c47) IS NOT NULL), [])), lambda v51: {k: CASE WHEN v51 IS NOT NULL THEN {n0: (v51)."key" IS NOT NULL, v0: (v51)."key", n1: (v51)."value" IS NOT NULL, v1: (v51)."value"} END, v: v51}), 'ASC', 'NULLS LAST'), lambda v51: v51.v) AS c50, flatten(coalesce(list(c48) FILTER (WHERE c48 IS NOT NULL), [])) AS c52, count(1) AS c53 FROM 
(SELECT c33, c34, c35, c46, c47, c48 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c33, c34, c35, c30 FROM 
(SELECT * EXCLUDE (uc30), uc30 AS c30 FROM (SELECT *, unnest(c36) AS uc30 FROM 
(SELECT c33, c34, c35, c36 FROM 
(SELECT c33, c34, c35, c36 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c33, c34, c35, c36 FROM 
(SELECT c33, c34, c35, c36 FROM 
(SELECT c33, c34, c35, c36 FROM 
(SELECT c33, c34, c35, c36 FROM 
(SELECT c33, c34, c35, c36 FROM 
(SELECT "trace" AS c33, "node" AS c34, "type" AS c32, "seq" AS c35, "supersedes" AS c36, "family" AS c31 FROM "silver/events") WHERE ((c31 IN ('change')) AND (c32 IN ('change.made')))))))))))))))) JOIN 
(SELECT * FROM 
(SELECT c39, c40 AS c45, c41 AS c46, c44 AS c47, c43 AS c48 FROM 
(SELECT c39, c40, c41, c43, map_from_entries(list_transform(map_entries(text_to_map(c42, ';', ':')), lambda pv22: {'key': pv22.key, 'value': text_to_bigint(pv22.value)})) AS c44 FROM 
(SELECT c39, c40, c41, c42, c43 FROM 
(SELECT c39, c40, c41, c42, c43 FROM 
(SELECT c39, c40, c41, c42, c43 FROM 
(SELECT "trace" AS c39, "type" AS c38, "number" AS c40, "modified_at" AS c41, "pcl" AS c42, "rivals" AS c43, "family" AS c37 FROM "silver/events") WHERE ((c37 IN ('change')) AND (c38 IN ('change.made'))))))))) ON ((c33 = c39) AND (c30 = c45)))) GROUP BY c33, c34, c35)) ON (((c5 = c33) AND (c6 = c34)) AND (c7 = c35))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c57, c58, c59, list_except(c72, coalesce(c81, CAST([] AS VARCHAR[]))) AS c82 FROM 
(SELECT c57, c58, c59, c72, c81 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c57, c58, c59, flatten(coalesce(list(c70) FILTER (WHERE c70 IS NOT NULL), [])) AS c72 FROM 
(SELECT c57, c58, c59, c70 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c57, c58, c59, c54 FROM 
(SELECT * EXCLUDE (uc54), uc54 AS c54 FROM (SELECT *, unnest(c60) AS uc54 FROM 
(SELECT c57, c58, c59, c60 FROM 
(SELECT c57, c58, c59, c60 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c57, c58, c59, c60 FROM 
(SELECT c57, c58, c59, c60 FROM 
(SELECT c57, c58, c59, c60 FROM 
(SELECT c57, c58, c59, c60 FROM 
(SELECT c57, c58, c59, c60 FROM 
(SELECT "trace" AS c57, "node" AS c58, "type" AS c56, "seq" AS c59, "supersedes" AS c60, "family" AS c55 FROM "silver/events") WHERE ((c55 IN ('change')) AND (c56 IN ('change.made')))))))))))))))) JOIN 
(SELECT * FROM 
(SELECT c63, c67 AS c71, c70 FROM 
(SELECT c63, c67, (c69)."replicas" AS c70 FROM 
(SELECT c63, c67, arg_min_null({'replicas': c68}, {n0: c66 IS NOT NULL, v0: c66, n1: c64 IS NOT NULL, v1: c64, n2: c65 IS NOT NULL, v2: c65}) AS c69 FROM 
(SELECT "trace" AS c63, "store" AS c64, "folder" AS c62, "act" AS c61, "seq" AS c65, "at" AS c66, "number" AS c67, "replicas" AS c68 FROM "evidence/versions") WHERE ((c61 = 'made') AND (c62 = '1-1')) GROUP BY c63, c67)))) ON ((c57 = c63) AND (c54 = c71)))) GROUP BY c57, c58, c59)) LEFT JOIN 
(SELECT * FROM 
(SELECT c73, coalesce(list(DISTINCT c74) FILTER (WHERE c74 IS NOT NULL), []) AS c81 FROM 
(SELECT DISTINCT c73, c74 FROM 
(SELECT c73 AS c73, c74 AS c74 FROM 
(SELECT c73, c74 FROM 
(SELECT c73, c74 FROM 
(SELECT "trace" AS c73, "type" AS c76, "store" AS c74, "family" AS c75 FROM "silver/events") WHERE ((c75 IN ('replication')) AND (c76 IN ('store.deleted')))))
UNION ALL SELECT c79 AS c73, c80 AS c74 FROM 
(SELECT c79, c80 FROM 
(SELECT c79, c80 FROM 
(SELECT c79, c80 FROM 
(SELECT "trace" AS c79, "type" AS c78, "store" AS c80, "family" AS c77 FROM "silver/events") WHERE ((c77 IN ('run')) AND (c78 IN ('backup.elsewhere')))))))) GROUP BY c73)) ON (c57 = c73))))) ON (((c5 = c57) AND (c6 = c58)) AND (c7 = c59))))) GROUP BY c5))))) WHERE (c1 > (0)::BIGINT));

-- table rules/claims needs mail.submitted
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c5 AS "trace", c87 AS "check", c1 AS "consumed", c88 AS "violations", c89 AS "at", c90 AS "witness" FROM (SELECT * FROM 
(SELECT c5, (c2)."check" AS c87, (c2)."consumed" AS c1, (c2)."violations" AS c88, (c2)."at" AS c89, (c2)."witness" AS c90 FROM 
(SELECT c5, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'claimed changes are in the store', 'consumed': c81, 'violations': c82, 'at': (c83)."at", 'witness': (c83)."words"}, {'check': 'applied changes are claimed', 'consumed': c84, 'violations': c85, 'at': (c86)."at", 'witness': (c86)."words"}]) AS uc2 FROM 
(SELECT c5, count(1) FILTER (WHERE c75) AS c81, count(1) FILTER (WHERE c76) AS c82, arg_min(CASE WHEN c76 THEN {'at': c74, 'words': c77} END, CASE WHEN c76 THEN {n0: c74 IS NOT NULL, v0: c74, n1: c77 IS NOT NULL, v1: c77} END) AS c83, count(1) FILTER (WHERE c78) AS c84, count(1) FILTER (WHERE c79) AS c85, arg_min(CASE WHEN c79 THEN {'at': c74, 'words': c80} END, CASE WHEN c79 THEN {n0: c74 IS NOT NULL, v0: c74, n1: c80 IS NOT NULL, v1: c80} END) AS c86 FROM 
(SELECT c5, c50 AS c74, coalesce(c61, FALSE) AS c75, CASE WHEN coalesce(c61, FALSE) THEN (NOT coalesce(c63, FALSE)) ELSE FALSE END AS c76, CASE WHEN CASE WHEN coalesce(c61, FALSE) THEN (NOT coalesce(c63, FALSE)) ELSE FALSE END THEN (c48 || ' claims ' || c60 || ' in its last mail of ' || ('folder=' || c6) || ', but never received it') END AS c77, coalesce(c72, FALSE) AS c78, CASE WHEN coalesce(c72, FALSE) THEN (NOT coalesce(c61, FALSE)) ELSE FALSE END AS c79, CASE WHEN CASE WHEN coalesce(c72, FALSE) THEN (NOT coalesce(c61, FALSE)) ELSE FALSE END THEN (c48 || ' applied ' || c60 || ' of ' || ('folder=' || c6) || ' but does not claim it') END AS c80 FROM 
(SELECT c5, c6, c48, c50, (c3)."number" AS c60, list_any(list_transform(c51, lambda v62: (((v62)."guid" = CASE WHEN ((c3)."kind" = 'fai') THEN ((c3)."guid" || ' fai') ELSE (c3)."guid" END) AND (((c3)."counter" >= (v62)."low") AND ((c3)."counter" <= (v62)."high"))))) AS c61, CASE WHEN list_any(list_transform(c58, lambda v64: ((v64)."number" = (c3)."number"))) THEN TRUE ELSE ((list_any(list_transform(c58, lambda v65: ((((v65)."number" = (c3)."number") OR (v65)."deleted") OR ((coalesce((map_extract_value((v65)."pcl", (c3)."guid") >= (c3)."counter"), FALSE) AND (NOT list_contains_or_null(coalesce((v65)."rivals", CAST([] AS VARCHAR[])), (c3)."number"))) OR (c7 AND ({n0: (v65)."modified_at" IS NOT NULL, v0: (v65)."modified_at", n1: (v65)."guid" IS NOT NULL, v1: (v65)."guid", n2: (v65)."counter" IS NOT NULL, v2: (v65)."counter"} > {n0: (c3)."modified_at" IS NOT NULL, v0: (c3)."modified_at", n1: (c3)."guid" IS NOT NULL, v1: (c3)."guid", n2: (c3)."counter" IS NOT NULL, v2: (c3)."counter"})))))) OR list_any(list_transform(coalesce(c47, CAST([] AS STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[])), lambda v66: (((v66)."guid" = CASE WHEN ((c3)."kind" = 'fai') THEN ((c3)."guid" || ' fai') ELSE (c3)."guid" END) AND (((c3)."counter" >= (v66)."low") AND ((c3)."counter" <= (v66)."high")))))) OR ((coalesce(len(c9)::INTEGER, -1) > 0) AND list_any(list_transform(c8, lambda v67: ((((v67)."act" = 'made') AND ((((v67)."number" = (c3)."number") OR (v67)."deleted") OR ((coalesce((map_extract_value((v67)."pcl", (c3)."guid") >= (c3)."counter"), FALSE) AND (NOT list_contains_or_null(coalesce((v67)."rivals", CAST([] AS VARCHAR[])), (c3)."number"))) OR (c7 AND ({n0: (v67)."modified_at" IS NOT NULL, v0: (v67)."modified_at", n1: (v67)."guid" IS NOT NULL, v1: (v67)."guid", n2: (v67)."counter" IS NOT NULL, v2: (v67)."counter"} > {n0: (c3)."modified_at" IS NOT NULL, v0: (c3)."modified_at", n1: (c3)."guid" IS NOT NULL, v1: (c3)."guid", n2: (c3)."counter" IS NOT NULL, v2: (c3)."counter"}))))) AND (list_any(list_transform(c9, lambda v68: (((v68)."number" = (v67)."number") AND ((v68)."forgotten_at" <= c50)))) OR (list_any(list_transform(c9, lambda v69: (((v69)."number" = (v67)."number") AND ((v69)."at" <= c50)))) AND (NOT list_any(list_transform(c8, lambda v70: (((((v70)."number" = (v67)."number") AND ((v70)."act" IN ('made', 'applied'))) AND ((v70)."at" <= c50)) AND (((NOT (v70)."undone") AND (NOT (v70)."dropped")) AND (NOT list_any(list_transform(c9, lambda v71: (((((v71)."store" = (v70)."store") AND ((v71)."number" = (v70)."number")) AND ((v71)."seq" > (v70)."seq")) AND (((v71)."at" <= c50) AND (NOT (v71)."undone")))))))))))))))))) END AS c63, list_any(list_transform(c58, lambda v73: ((((v73)."act" = 'applied') AND ((v73)."number" = (c3)."number")) AND (NOT (v73)."undone")))) AS c72 FROM 
(SELECT c5, c6, c7, c8, c9, c48, c50, c51, c47, c58, c3 FROM 
(SELECT * EXCLUDE (uc3), uc3 AS c3 FROM (SELECT *, unnest(c10) AS uc3 FROM 
(SELECT c5, c6, c7, c8, c9, c10, c48, c50, c51, c47, list_filter(c8, lambda v59: ((((v59)."store" = c48) AND (NOT ((v59)."act" = 'tombstone dropped'))) AND ((v59)."seq" < c49))) AS c58 FROM 
(SELECT c5, c6, c7, c8, c9, c10, c48, c49, c50, c51, c47 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c5, c6, c7, c8, c9, list_filter(c8, lambda v11: ((((v11)."act" = 'made') AND (NOT ((v11)."store" = 'Setup'))) AND (NOT (v11)."undone"))) AS c10 FROM 
(SELECT "trace" AS c5, "folder" AS c6, "alone" AS c7, "forgotten" AS c4, "rows" AS c8, "expiries" AS c9 FROM "evidence/objects") WHERE (NOT c4))) JOIN 
(SELECT * FROM 
(SELECT c15, c21, c20 AS c48, (c22)."seq" AS c49, (c22)."at" AS c50, (list_flattened(list_transform(list_filter(str_split((c22)."row", ';'), lambda v53: (NOT (v53 = ''))), lambda v52: list_transform(str_split(split_part(v52, ':', 2), ','), lambda v54: {'guid': CASE WHEN ('message' = 'fai') THEN (split_part(v52, ':', 1) || ' fai') ELSE split_part(v52, ':', 1) END, 'low': text_to_bigint(split_part(v54, '-', 1)), 'high': text_to_bigint(split_part(v54, '-', (-1)))}))) || list_flattened(list_transform(list_filter(str_split((c22)."row_fai", ';'), lambda v56: (NOT (v56 = ''))), lambda v55: list_transform(str_split(split_part(v55, ':', 2), ','), lambda v57: {'guid': CASE WHEN ('fai' = 'fai') THEN (split_part(v55, ':', 1) || ' fai') ELSE split_part(v55, ':', 1) END, 'low': text_to_bigint(split_part(v57, '-', 1)), 'high': text_to_bigint(split_part(v57, '-', (-1)))})))) AS c51, c47 FROM 
(SELECT c15, c20, c21, c22, c47 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c15, c20, c21, c22 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c15, c20, c21, c22 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c15, c16 AS c20, (c12)."folder" AS c21, arg_max_null({'seq': c17, 'at': c18, 'row': (c12)."row", 'row_fai': (c12)."row_fai"}, c17) AS c22 FROM 
(SELECT c15, c16, c17, c18, c12 FROM 
(SELECT * EXCLUDE (uc12), uc12 AS c12 FROM (SELECT *, unnest(list_from_json(c19, '"STRUCT(\"folder\" VARCHAR, \"cnset\" VARCHAR, \"cnset_fai\" VARCHAR, \"row\" VARCHAR, \"row_fai\" VARCHAR, \"updates\" BIGINT, \"expired\" VARCHAR, \"expired_fai\" VARCHAR)[]"')) AS uc12 FROM 
(SELECT "trace" AS c15, "node" AS c16, "type" AS c14, "seq" AS c17, "at" AS c18, "folders" AS c19, "family" AS c13 FROM "silver/events") WHERE ((c13 IN ('mail')) AND (c14 IN ('mail.submitted')))))) GROUP BY c15, c16, (c12)."folder")) ANTI JOIN 
(SELECT * FROM 
(SELECT c23, c24 AS c25 FROM 
(SELECT "trace" AS c23, "node" AS c24 FROM "evidence/restored"))) ON ((c15 = c23) AND (c20 = c25))))) ANTI JOIN 
(SELECT * FROM 
(SELECT DISTINCT c26, c27, c28 FROM 
(SELECT c26, c31 AS c27, c28 FROM 
(SELECT c26, c31, c28 FROM 
(SELECT "trace" AS c26, "node" AS c31, "type" AS c30, "folder" AS c28, "family" AS c29 FROM "silver/events") WHERE ((c29 IN ('replication')) AND (c30 IN ('replica.dropped'))))))) ON (((c15 = c26) AND (c20 = c27)) AND (c21 = c28))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c34, c39, c36, flatten(coalesce(list(c40) FILTER (WHERE c40 IS NOT NULL), [])) AS c47 FROM 
(SELECT c34, c35 AS c39, c36, (list_flattened(list_transform(list_filter(str_split(c37, ';'), lambda v42: (NOT (v42 = ''))), lambda v41: list_transform(str_split(split_part(v41, ':', 2), ','), lambda v43: {'guid': CASE WHEN ('message' = 'fai') THEN (split_part(v41, ':', 1) || ' fai') ELSE split_part(v41, ':', 1) END, 'low': text_to_bigint(split_part(v43, '-', 1)), 'high': text_to_bigint(split_part(v43, '-', (-1)))}))) || list_flattened(list_transform(list_filter(str_split(c38, ';'), lambda v45: (NOT (v45 = ''))), lambda v44: list_transform(str_split(split_part(v44, ':', 2), ','), lambda v46: {'guid': CASE WHEN ('fai' = 'fai') THEN (split_part(v44, ':', 1) || ' fai') ELSE split_part(v44, ':', 1) END, 'low': text_to_bigint(split_part(v46, '-', 1)), 'high': text_to_bigint(split_part(v46, '-', (-1)))})))) AS c40 FROM 
(SELECT c34, c35, c36, c37, c38 FROM 
(SELECT "trace" AS c34, "node" AS c35, "type" AS c33, "folder" AS c36, "cnset" AS c37, "cnset_fai" AS c38, "family" AS c32 FROM "silver/events") WHERE ((c32 IN ('replication')) AND (c33 IN ('expired.everywhere'))))) GROUP BY c34, c39, c36)) ON (((c15 = c34) AND (c20 = c39)) AND (c21 = c36)))))) ON ((c5 = c15) AND (c6 = c21)))))))))) GROUP BY c5))))) WHERE (c1 > (0)::BIGINT));

-- table rules/cycles needs mail.submitted
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c9 AS "trace", c177 AS "check", c1 AS "consumed", c178 AS "violations", c179 AS "at", c180 AS "witness" FROM (SELECT * FROM 
(SELECT c9, (c2)."check" AS c177, (c2)."consumed" AS c1, (c2)."violations" AS c178, (c2)."at" AS c179, (c2)."witness" AS c180 FROM 
(SELECT c9, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'holes are closed', 'consumed': c168, 'violations': c169, 'at': (c170)."at", 'witness': (c170)."words"}, {'check': 'no claims beyond the last change', 'consumed': c171, 'violations': c172, 'at': (c173)."at", 'witness': (c173)."words"}, {'check': 'items that fit share a mail', 'consumed': c174, 'violations': c175, 'at': (c176)."at", 'witness': (c176)."words"}]) AS uc2 FROM 
(SELECT c9, count(1) FILTER (WHERE c148) AS c168, count(1) FILTER (WHERE c150) AS c169, arg_min(CASE WHEN c150 THEN {'at': c147, 'words': c154} END, CASE WHEN c150 THEN {n0: c147 IS NOT NULL, v0: c147, n1: c154 IS NOT NULL, v1: c154} END) AS c170, count(1) FILTER (WHERE c158) AS c171, count(1) FILTER (WHERE c159) AS c172, arg_min(CASE WHEN c159 THEN {'at': c147, 'words': c161} END, CASE WHEN c159 THEN {n0: c147 IS NOT NULL, v0: c147, n1: c161 IS NOT NULL, v1: c161} END) AS c173, count(1) FILTER (WHERE c163) AS c174, count(1) FILTER (WHERE c164) AS c175, arg_min(CASE WHEN c164 THEN {'at': c147, 'words': c166} END, CASE WHEN c164 THEN {n0: c147 IS NOT NULL, v0: c147, n1: c166 IS NOT NULL, v1: c166} END) AS c176 FROM 
(SELECT c9, c12 AS c147, coalesce((((coalesce(len(list_filter(c3, lambda v149: ((v149)."high" > c125)))::INTEGER, -1) > 0) AND c134) AND (coalesce(len(c133)::INTEGER, -1) > 1)), FALSE) AS c148, CASE WHEN coalesce((((coalesce(len(list_filter(c3, lambda v151: ((v151)."high" > c125)))::INTEGER, -1) > 0) AND c134) AND (coalesce(len(c133)::INTEGER, -1) > 1)), FALSE) THEN (NOT coalesce(((coalesce(len(list_filter(c3, lambda v152: ((v152)."high" > c125)))::INTEGER, -1) = 1) AND ((list_item(list_filter(c3, lambda v153: ((v153)."high" > c125)), 0))."low" <= add_wrapped(c125, (1)::BIGINT))), FALSE)) ELSE FALSE END AS c150, CASE WHEN CASE WHEN coalesce((((coalesce(len(list_filter(c3, lambda v155: ((v155)."high" > c125)))::INTEGER, -1) > 0) AND c134) AND (coalesce(len(c133)::INTEGER, -1) > 1)), FALSE) THEN (NOT coalesce(((coalesce(len(list_filter(c3, lambda v156: ((v156)."high" > c125)))::INTEGER, -1) = 1) AND ((list_item(list_filter(c3, lambda v157: ((v157)."high" > c125)), 0))."low" <= add_wrapped(c125, (1)::BIGINT))), FALSE)) ELSE FALSE END THEN (c10 || ' left a hole in its own numbers after ' || (c125)::VARCHAR || ' in its broadcast of ' || ('folder=' || c18)) END AS c154, coalesce((coalesce(len(c3)::INTEGER, -1) > 0), FALSE) AS c158, CASE WHEN coalesce((coalesce(len(c3)::INTEGER, -1) > 0), FALSE) THEN (NOT coalesce((list_max(list_transform(c3, lambda v160: (v160)."high")) <= c126), FALSE)) ELSE FALSE END AS c159, CASE WHEN CASE WHEN coalesce((coalesce(len(c3)::INTEGER, -1) > 0), FALSE) THEN (NOT coalesce((list_max(list_transform(c3, lambda v162: (v162)."high")) <= c126), FALSE)) ELSE FALSE END THEN (c10 || ' claimed own numbers of ' || ('folder=' || c18) || ' above ' || (c126)::VARCHAR || ', its last change there') END AS c161, coalesce(((c146 AND (coalesce(len(c139)::INTEGER, -1) > 1)) AND ((c6 = (4)::BIGINT) OR (c137 IN ('2003', '2007')))), FALSE) AS c163, CASE WHEN coalesce(((c146 AND (coalesce(len(c139)::INTEGER, -1) > 1)) AND ((c6 = (4)::BIGINT) OR (c137 IN ('2003', '2007')))), FALSE) THEN (NOT coalesce(list_all(list_transform(number_series(1, (coalesce(len(c139)::INTEGER, -1) - 1)), lambda v165: (add_wrapped(add_wrapped(list_item(c139, (v165 - 1)), list_item(c139, v165)), multiply_wrapped((200)::BIGINT, add_wrapped(list_item(c141, (v165 - 1)), list_item(c141, v165)))) > (307200)::BIGINT))), FALSE)) ELSE FALSE END AS c164, CASE WHEN CASE WHEN coalesce(((c146 AND (coalesce(len(c139)::INTEGER, -1) > 1)) AND ((c6 = (4)::BIGINT) OR (c137 IN ('2003', '2007')))), FALSE) THEN (NOT coalesce(list_all(list_transform(number_series(1, (coalesce(len(c139)::INTEGER, -1) - 1)), lambda v167: (add_wrapped(add_wrapped(list_item(c139, (v167 - 1)), list_item(c139, v167)), multiply_wrapped((200)::BIGINT, add_wrapped(list_item(c141, (v167 - 1)), list_item(c141, v167)))) > (307200)::BIGINT))), FALSE)) ELSE FALSE END THEN (c10 || ' sent ' || (coalesce(len(c139)::INTEGER, -1))::VARCHAR || ' mails of ' || ('folder=' || c18) || ' at once, two of which fit into one') END AS c166 FROM 
(SELECT c9, c10, c18, c12, c6, c3, c125, c126, c133, c134, c137, c139, c141, coalesce(c145, FALSE) AS c146 FROM 
(SELECT c9, c10, c18, c12, c6, c3, c125, c126, c133, c134, c137, c139, c141, c145 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c9, c10, c18, c12, c6, c3, c125, c126, c133, c134, c137, c139, c141 FROM 
(SELECT c9, c10, c18, c12, c6, c3, c125, c126, c133, c134, c137, list_transform(c47, lambda v140: (v140)."size") AS c139, list_transform(c47, lambda v142: (v142)."updates") AS c141 FROM 
(SELECT c9, c10, c18, c12, c6, c47, c3, c125, c126, c133, c134, c137 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c9, c10, c18, c12, c6, c47, c3, c125, c126, c133, c134 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c9, c10, c18, c12, c6, c46, c47, c3, c125, c126 FROM 
(SELECT c9, c10, c18, c12, c6, c4, c46, c47, c3, c125, c126 FROM 
(SELECT c9, c10, c18, c12, c6, c4, c46, c47, c3, coalesce(c123, (0)::BIGINT) AS c125, coalesce(c124, (0)::BIGINT) AS c126 FROM 
(SELECT *, max(c122) OVER (PARTITION BY c9, c10, c18 ORDER BY c46 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS c123, max(c58) OVER (PARTITION BY c9, c10, c18 ORDER BY c46 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS c124 FROM 
(SELECT c9, c10, c18, c12, c6, c4, c46, c47, c3, c122, c58 FROM 
(SELECT c9, c10, c18, c12, c6, c4, c46, c47, c3, c122, c58 FROM 
(SELECT c9, c10, c18, c12, c6, c4, c46, c47, c3, c58, CASE WHEN c96 THEN c121 ELSE c56 END AS c122 FROM 
(SELECT *, max(c58) OVER (PARTITION BY c9, c10, c18 ORDER BY c46 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS c121 FROM 
(SELECT c9, c10, c18, c12, c6, c4, c46, c47, c3, c58, c96, c56 FROM 
(SELECT c9 AS c9, c10 AS c10, c18 AS c18, c12 AS c12, c6 AS c6, c4 AS c4, c46 AS c46, c47 AS c47, c3 AS c3, c56 AS c56, c58 AS c58, c96 AS c96 FROM 
(SELECT c9, c10, c18, c12, c6, c4, c46, c47, c3, c56, c58, CAST(NULL AS BOOLEAN) AS c96 FROM 
(SELECT c9 AS c9, c10 AS c10, c18 AS c18, c12 AS c12, c6 AS c6, c4 AS c4, c46 AS c46, c47 AS c47, c3 AS c3, c56 AS c56, c58 AS c58 FROM 
(SELECT c9, c10, c18, c12, c6, c4, c46, c47, c3, c56, CAST(NULL AS BIGINT) AS c58 FROM 
(SELECT c9, c10, c18, c12, c6, c4, c46, c47, c3, list_max(list_transform(c3, lambda v57: (v57)."high")) AS c56 FROM 
(SELECT c9, c10, c18, c12, c6, c4, c46, c47, c3 FROM 
(SELECT c9, c10, c18, c12, c6, c4, c46, c47, list_reduce(list_transform(list_sort(list_transform(list_transform(c49, lambda v53: {'guid': (v53)."guid", 'low': (v53)."low", 'high': (v53)."high"}), lambda v54: {k: CASE WHEN v54 IS NOT NULL THEN {n0: (v54)."guid" IS NOT NULL, v0: (v54)."guid", n1: (v54)."low" IS NOT NULL, v1: (v54)."low", n2: (v54)."high" IS NOT NULL, v2: (v54)."high"} END, v: v54}), 'ASC', 'NULLS LAST'), lambda v54: v54.v), lambda v51, v52: CASE WHEN (((coalesce(len(v51)::INTEGER, -1) > 0) AND ((list_item(v51, (coalesce(len(v51)::INTEGER, -1) - 1)))."guid" = (v52)."guid")) AND ((list_item(v51, (coalesce(len(v51)::INTEGER, -1) - 1)))."high" >= subtract_wrapped((v52)."low", (1)::BIGINT))) THEN (list_part(v51, 1, (coalesce(len(v51)::INTEGER, -1) - 1)) || [{'guid': (v52)."guid", 'low': (list_item(v51, (coalesce(len(v51)::INTEGER, -1) - 1)))."low", 'high': greatest((list_item(v51, (coalesce(len(v51)::INTEGER, -1) - 1)))."high", (v52)."high")}]) ELSE (v51 || [v52]) END, CAST(CAST([] AS STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[]) AS STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[])) AS c3 FROM 
(SELECT c9, c10, c18, c12, c6, c4, min(c11) AS c46, list_transform(list_sort(list_transform(coalesce(list({'seq': c11, 'size': c14, 'updates': c19}), []), lambda v48: {k: CASE WHEN v48 IS NOT NULL THEN {n0: (v48)."seq" IS NOT NULL, v0: (v48)."seq", n1: (v48)."size" IS NOT NULL, v1: (v48)."size", n2: (v48)."updates" IS NOT NULL, v2: (v48)."updates"} END, v: v48}), 'ASC', 'NULLS LAST'), lambda v48: v48.v) AS c47, flatten(coalesce(list(list_filter(c5, lambda v50: ((v50)."guid" = c45))) FILTER (WHERE list_filter(c5, lambda v50: ((v50)."guid" = c45)) IS NOT NULL), [])) AS c49 FROM 
(SELECT c9, c10, c11, c12, c6, c14, c4, c18, c19, c5, c39, c45 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c9, c10, c11, c12, c6, c14, c4, c18, c19, c5, c39 FROM 
(SELECT c9, c10, c11, c12, c6, c14, c4, c18, c19, c5, c39 FROM 
(SELECT c9, c10, c11, c12, c6, c14, c4, c18, c19, c5, c39, c39 FROM 
(SELECT *, count(c23) OVER (PARTITION BY c9, c10, c18 ORDER BY c11 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS c39 FROM 
(SELECT c9, c10, c11, c12, c6, c14, c4, c18, c19, c5, c23 FROM 
(SELECT c9 AS c9, c10 AS c10, c11 AS c11, c12 AS c12, c6 AS c6, c14 AS c14, c4 AS c4, c18 AS c18, c19 AS c19, c5 AS c5, c23 AS c23 FROM 
(SELECT c9, c10, c11, c12, c6, c14, c4, c18, c19, c5, CAST(NULL AS BIGINT) AS c23 FROM 
(SELECT c9, c10, c11, c12, c6, c14, c4, (c17)."folder" AS c18, (c17)."updates" AS c19, list_flattened(list_transform(list_filter(str_split((c17)."cnset", ';'), lambda v21: (NOT (v21 = ''))), lambda v20: list_transform(str_split(split_part(v20, ':', 2), ','), lambda v22: {'guid': CASE WHEN ('message' = 'fai') THEN (split_part(v20, ':', 1) || ' fai') ELSE split_part(v20, ':', 1) END, 'low': text_to_bigint(split_part(v22, '-', 1)), 'high': text_to_bigint(split_part(v22, '-', (-1)))}))) AS c5 FROM 
(SELECT c9, c10, c11, c12, c6, c14, list_contains_or_null(coalesce(c15, CAST([] AS VARCHAR[])), 'resent') AS c4, list_item(c16, 0) AS c17 FROM 
(SELECT c9, c10, c11, c12, c6, list_from_json(c13, '"STRUCT(\"folder\" VARCHAR, \"cnset\" VARCHAR, \"cnset_fai\" VARCHAR, \"row\" VARCHAR, \"row_fai\" VARCHAR, \"updates\" BIGINT, \"expired\" VARCHAR, \"expired_fai\" VARCHAR)[]"') AS c16, c14, c15 FROM 
(SELECT "trace" AS c9, "node" AS c10, "type" AS c8, "seq" AS c11, "at" AS c12, "message_type" AS c6, "folders" AS c13, "size" AS c14, "marks" AS c15, "family" AS c7 FROM "silver/events") WHERE ((c7 IN ('mail')) AND (c8 IN ('mail.submitted')))) WHERE (c6 IN ((2)::BIGINT, (4)::BIGINT)))))
UNION ALL SELECT c27 AS c9, c28 AS c10, c29 AS c11, c33 AS c12, c34 AS c6, c35 AS c14, c36 AS c4, c31 AS c18, c37 AS c19, c38 AS c5, c32 AS c23 FROM 
(SELECT c27, c28, c29, CAST(NULL AS BIGINT) AS c33, CAST(NULL AS BIGINT) AS c34, CAST(NULL AS BIGINT) AS c35, CAST(NULL AS BOOLEAN) AS c36, c31, CAST(NULL AS BIGINT) AS c37, CAST(NULL AS STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[]) AS c38, c32 FROM 
(SELECT c27, c28, c29, c31, text_to_bigint(split_part(c30, ':', -1)) AS c32 FROM 
(SELECT c27, c28, c29, c31, c30, c24 FROM 
(SELECT "trace" AS c27, "node" AS c28, "type" AS c26, "seq" AS c29, "kind" AS c24, "number" AS c30, "folder" AS c31, "family" AS c25 FROM "silver/events") WHERE ((c25 IN ('change')) AND (c26 IN ('change.made')))) WHERE (NOT (c24 = 'fai'))))))))) WHERE (c5 IS NOT NULL))) JOIN 
(SELECT * FROM 
(SELECT c41, c43 AS c44, min(c42) AS c45, count(1) AS c40 FROM 
(SELECT "trace" AS c41, "guid" AS c42, "store" AS c43 FROM "organization/guids") GROUP BY c41, c43) WHERE (c40 = (1)::BIGINT)) ON ((c9 = c41) AND (c10 = c44)))) GROUP BY c9, c10, c18, c12, c6, c39, c4)))))
UNION ALL SELECT c62 AS c9, c63 AS c10, c66 AS c18, c68 AS c12, c69 AS c6, c70 AS c4, c64 AS c46, c71 AS c47, c72 AS c3, c73 AS c56, c67 AS c58 FROM 
(SELECT c62, c63, c66, CAST(NULL AS BIGINT) AS c68, CAST(NULL AS BIGINT) AS c69, CAST(NULL AS BOOLEAN) AS c70, c64, CAST(NULL AS STRUCT("seq" BIGINT, "size" BIGINT, "updates" BIGINT)[]) AS c71, CAST(NULL AS STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[]) AS c72, CAST(NULL AS BIGINT) AS c73, c67 FROM 
(SELECT c62, c63, c64, c66, text_to_bigint(split_part(c65, ':', -1)) AS c67 FROM 
(SELECT c62, c63, c64, c66, c65, c59 FROM 
(SELECT "trace" AS c62, "node" AS c63, "type" AS c61, "seq" AS c64, "kind" AS c59, "number" AS c65, "folder" AS c66, "family" AS c60 FROM "silver/events") WHERE ((c60 IN ('change')) AND (c61 IN ('change.made')))) WHERE (NOT (c59 = 'fai'))))
UNION ALL SELECT c78 AS c9, c79 AS c10, c88 AS c18, c90 AS c12, c91 AS c6, c92 AS c4, c75 AS c46, c93 AS c47, c94 AS c3, c89 AS c56, c95 AS c58 FROM 
(SELECT c78, c79, c88, CAST(NULL AS BIGINT) AS c90, CAST(NULL AS BIGINT) AS c91, CAST(NULL AS BOOLEAN) AS c92, c75, CAST(NULL AS STRUCT("seq" BIGINT, "size" BIGINT, "updates" BIGINT)[]) AS c93, CAST(NULL AS STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[]) AS c94, c89, CAST(NULL AS BIGINT) AS c95 FROM 
(SELECT c78, c79, c75, c88, max(c82) AS c89 FROM 
(SELECT c78, c79, c74, c82, c75, c88 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c78, c79, c80 AS c74, text_to_bigint(split_part(c81, ':', -1)) AS c82 FROM 
(SELECT c78, c79, c80, c81 FROM 
(SELECT "trace" AS c78, "node" AS c79, "type" AS c77, "seq" AS c80, "number" AS c81, "family" AS c76 FROM "silver/events") WHERE ((c76 IN ('change')) AND (c77 IN ('change.made')))))) JOIN 
(SELECT * FROM 
(SELECT c87, c84, c75, c88 FROM 
(SELECT c87, c84, c75, c88, c83 FROM 
(SELECT "trace" AS c87, "node" AS c84, "type" AS c86, "seq" AS c75, "store" AS c83, "folder" AS c88, "family" AS c85 FROM "silver/events") WHERE ((c85 IN ('replication')) AND (c86 IN ('replica.added')))) WHERE (c83 = c84))) ON ((c78 = c87) AND (c79 = c84)))) WHERE (c74 < c75) GROUP BY c78, c79, c75, c88))))
UNION ALL SELECT c101 AS c9, c102 AS c10, c97 AS c18, c114 AS c12, c115 AS c6, c116 AS c4, c103 AS c46, c117 AS c47, c118 AS c3, c119 AS c56, c120 AS c58, c113 AS c96 FROM 
(SELECT c101, c102, c97, CAST(NULL AS BIGINT) AS c114, CAST(NULL AS BIGINT) AS c115, CAST(NULL AS BOOLEAN) AS c116, c103, CAST(NULL AS STRUCT("seq" BIGINT, "size" BIGINT, "updates" BIGINT)[]) AS c117, CAST(NULL AS STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[]) AS c118, CAST(NULL AS BIGINT) AS c119, CAST(NULL AS BIGINT) AS c120, c113 FROM 
(SELECT c101, c102, c103, c97, TRUE AS c113 FROM 
(SELECT c101 AS c101, c102 AS c102, c103 AS c103, c97 AS c97 FROM 
(SELECT c101, c102, c103, c97 FROM 
(SELECT * EXCLUDE (uc97), uc97 AS c97 FROM (SELECT *, unnest(c105) AS uc97 FROM 
(SELECT c101, c102, c103, c98, list_from_json(c104, '"VARCHAR[]"') AS c105 FROM 
(SELECT "trace" AS c101, "node" AS c102, "type" AS c100, "seq" AS c103, "message_type" AS c98, "folders" AS c104, "family" AS c99 FROM "silver/events") WHERE ((c99 IN ('replication')) AND (c100 IN ('address.lacking')))) WHERE (c98 IN ((2)::BIGINT, (4)::BIGINT)))))
UNION ALL SELECT c109 AS c101, c110 AS c102, c111 AS c103, c112 AS c97 FROM 
(SELECT c109, c110, c111, c112 FROM 
(SELECT c109, c110, c111, c112 FROM 
(SELECT c109, c110, c111, c106, c112 FROM 
(SELECT "trace" AS c109, "node" AS c110, "type" AS c108, "seq" AS c111, "message_type" AS c106, "folder" AS c112, "family" AS c107 FROM "silver/events") WHERE ((c107 IN ('replication')) AND (c108 IN ('tree.lacking')))) WHERE (c106 IN ((2)::BIGINT, (4)::BIGINT)))))))))))))))) WHERE ((c3 IS NOT NULL) AND (NOT c4)))) JOIN 
(SELECT * FROM 
(SELECT c129, c130, c131, c132, c133, c134 FROM 
(SELECT "trace" AS c129, "node" AS c130, "seq" AS c131, "message_type" AS c128, "folder" AS c132, "what" AS c127, "holders" AS c133, "untouched" AS c134 FROM "evidence/listed") WHERE ((c127 = 'mail') AND (c128 IN ((2)::BIGINT, (4)::BIGINT))))) ON ((((c9 = c129) AND (c10 = c130)) AND (c46 = c131)) AND (c18 = c132))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c135, c136 AS c138, c137 FROM 
(SELECT "trace" AS c135, "store" AS c136, "version" AS c137 FROM "organization/servers"))) ON ((c9 = c135) AND (c10 = c138))))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c143, c144, TRUE AS c145 FROM 
(SELECT "trace" AS c143, "node" AS c144 FROM "evidence/plain"))) ON ((c9 = c143) AND (c10 = c144)))))) GROUP BY c9))))) WHERE (c1 > (0)::BIGINT));

-- table rules/applied needs version.applied
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c5 AS "trace", c71 AS "check", c1 AS "consumed", c72 AS "violations", c73 AS "at", c74 AS "witness" FROM (SELECT * FROM 
(SELECT c5, (c2)."check" AS c71, (c2)."consumed" AS c1, (c2)."violations" AS c72, (c2)."at" AS c73, (c2)."witness" AS c74 FROM 
(SELECT c5, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'versions are applied as their author made them', 'consumed': c68, 'violations': c69, 'at': (c70)."at", 'witness': (c70)."words"}]) AS uc2 FROM 
(SELECT c5, count(1) FILTER (WHERE c59) AS c68, count(1) FILTER (WHERE c60) AS c69, arg_min(CASE WHEN c60 THEN {'at': c58, 'words': c64} END, CASE WHEN c60 THEN {n0: c58 IS NOT NULL, v0: c58, n1: c64 IS NOT NULL, v1: c64} END) AS c70 FROM 
(SELECT c5, c9 AS c58, coalesce(TRUE, FALSE) AS c59, CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce((((c41 = c8) AND (c42 = c7)) AND ((c49 = 'Setup') OR ((((c46 = c10) AND (c43 = c15)) AND (c47 = c14)) AND ((((map_entries(c44) = map_entries(c12)) OR (((coalesce(coalesce(len(c56)::INTEGER, -1), 0) > 1) AND list_all(list_transform(map_entries(c12), lambda v61: list_any(list_transform(c56, lambda v62: (map_extract_value(v62, (v61)."key") = (v61)."value")))))) AND list_all(list_transform(map_entries(c44), lambda v63: coalesce((map_extract_value(c12, (v63)."key") >= (v63)."value"), FALSE))))) AND (c16 OR (coalesce(c45, CAST([] AS VARCHAR[])) = coalesce(c13, CAST([] AS VARCHAR[]))))) AND (c48 = c16))))), FALSE)) ELSE FALSE END AS c60, CASE WHEN CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce((((c41 = c8) AND (c42 = c7)) AND ((c49 = 'Setup') OR ((((c46 = c10) AND (c43 = c15)) AND (c47 = c14)) AND ((((map_entries(c44) = map_entries(c12)) OR (((coalesce(coalesce(len(c56)::INTEGER, -1), 0) > 1) AND list_all(list_transform(map_entries(c12), lambda v65: list_any(list_transform(c56, lambda v66: (map_extract_value(v66, (v65)."key") = (v65)."value")))))) AND list_all(list_transform(map_entries(c44), lambda v67: coalesce((map_extract_value(c12, (v67)."key") >= (v67)."value"), FALSE))))) AND (c16 OR (coalesce(c45, CAST([] AS VARCHAR[])) = coalesce(c13, CAST([] AS VARCHAR[]))))) AND (c48 = c16))))), FALSE)) ELSE FALSE END THEN (c6 || ' applied ' || c11 || CASE WHEN (c41 IS NULL) THEN ', which no store made' ELSE ' in another form than its author made it' END) END AS c64 FROM 
(SELECT c5, c7, c8, c16, c11, c6, c9, c10, c12, c13, c14, c15, c41, c42, c43, c44, c45, c46, c47, c48, c49, c56 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c5, c11, c6, c7, c8, c9, c10, c12, c13, c14, c15, c16, c41, c42, c43, c44, c45, c46, c47, c48, c49 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT "trace" AS c5, "store" AS c6, "folder" AS c7, "object" AS c8, "act" AS c3, "seq" AS c4, "at" AS c9, "kind" AS c10, "number" AS c11, "pcl" AS c12, "rivals" AS c13, "modified_at" AS c14, "digest" AS c15, "deleted" AS c16 FROM "evidence/versions") WHERE ((c3 = 'applied') AND (c4 > (0)::BIGINT))) LEFT JOIN 
(SELECT * FROM 
(SELECT c18, c25, c32 AS c41, c33 AS c42, c34 AS c43, c35 AS c44, c36 AS c45, c37 AS c46, c38 AS c47, c39 AS c48, c40 AS c49 FROM 
(SELECT c18, c25, (c31)."object" AS c32, (c31)."folder" AS c33, (c31)."digest" AS c34, (c31)."pcl" AS c35, (c31)."rivals" AS c36, (c31)."kind" AS c37, (c31)."modified_at" AS c38, (c31)."deleted" AS c39, (c31)."store" AS c40 FROM 
(SELECT c18, c25, arg_min_null({'object': c21, 'folder': c20, 'digest': c29, 'pcl': c26, 'rivals': c27, 'kind': c24, 'modified_at': c28, 'deleted': c30, 'store': c19}, {n0: c23 IS NOT NULL, v0: c23, n1: c19 IS NOT NULL, v1: c19, n2: c22 IS NOT NULL, v2: c22}) AS c31 FROM 
(SELECT "trace" AS c18, "store" AS c19, "folder" AS c20, "object" AS c21, "act" AS c17, "seq" AS c22, "at" AS c23, "kind" AS c24, "number" AS c25, "pcl" AS c26, "rivals" AS c27, "modified_at" AS c28, "digest" AS c29, "deleted" AS c30 FROM "evidence/versions") WHERE (c17 = 'made') GROUP BY c18, c25)))) ON ((c5 = c18) AND (c11 = c25))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c52, c53, c54, c56, TRUE AS c57 FROM 
(SELECT c52, c53, c54, coalesce(list(c55) FILTER (WHERE c55 IS NOT NULL), []) AS c56 FROM 
(SELECT "trace" AS c52, "folder" AS c53, "object" AS c54, "act" AS c50, "pcl" AS c55, "deleted" AS c51 FROM "evidence/versions") WHERE ((c50 = 'made') AND c51) GROUP BY c52, c53, c54))) ON ((((c5 = c52) AND (c7 = c53)) AND (c8 = c54)) AND (c16 = c57))))) GROUP BY c5))))) WHERE (c1 > (0)::BIGINT));

-- table rules/at_stores needs change.made,tombstone.dropped,version.applied
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c4 AS "trace", c110 AS "check", c1 AS "consumed", c111 AS "violations", c112 AS "at", c113 AS "witness" FROM (SELECT * FROM 
(SELECT c4, (c2)."check" AS c110, (c2)."consumed" AS c1, (c2)."violations" AS c111, (c2)."at" AS c112, (c2)."witness" AS c113 FROM 
(SELECT c4, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'old versions are not applied', 'consumed': c92, 'violations': c93, 'at': (c94)."at", 'witness': (c94)."words"}, {'check': 'older versions do not replace later ones', 'consumed': c95, 'violations': c96, 'at': (c97)."at", 'witness': (c97)."words"}, {'check': 'deleted items stay deleted', 'consumed': c98, 'violations': c99, 'at': (c100)."at", 'witness': (c100)."words"}, {'check': 'deleted items are not changed', 'consumed': c101, 'violations': c102, 'at': (c103)."at", 'witness': (c103)."words"}, {'check': 'an edit covers the versions in its store', 'consumed': c104, 'violations': c105, 'at': (c106)."at", 'witness': (c106)."words"}, {'check': 'a change covers only what it replaces', 'consumed': c107, 'violations': c108, 'at': (c109)."at", 'witness': (c109)."words"}]) AS uc2 FROM 
(SELECT c4, count(1) FILTER (WHERE c17) AS c92, count(1) FILTER (WHERE c18) AS c93, arg_min(CASE WHEN c18 THEN {'at': c16, 'words': c21} END, CASE WHEN c18 THEN {n0: c16 IS NOT NULL, v0: c16, n1: c21 IS NOT NULL, v1: c21} END) AS c94, count(1) FILTER (WHERE c24) AS c95, count(1) FILTER (WHERE c26) AS c96, arg_min(CASE WHEN c26 THEN {'at': c16, 'words': c30} END, CASE WHEN c26 THEN {n0: c16 IS NOT NULL, v0: c16, n1: c30 IS NOT NULL, v1: c30} END) AS c97, count(1) FILTER (WHERE c34) AS c98, count(1) FILTER (WHERE c37) AS c99, arg_min(CASE WHEN c37 THEN {'at': c16, 'words': c42} END, CASE WHEN c37 THEN {n0: c16 IS NOT NULL, v0: c16, n1: c42 IS NOT NULL, v1: c42} END) AS c100, count(1) FILTER (WHERE c47) AS c101, count(1) FILTER (WHERE c50) AS c102, arg_min(CASE WHEN c50 THEN {'at': c16, 'words': c55} END, CASE WHEN c50 THEN {n0: c16 IS NOT NULL, v0: c16, n1: c55 IS NOT NULL, v1: c55} END) AS c103, count(1) FILTER (WHERE c60) AS c104, count(1) FILTER (WHERE c63) AS c105, arg_min(CASE WHEN c63 THEN {'at': c16, 'words': c68} END, CASE WHEN c63 THEN {n0: c16 IS NOT NULL, v0: c16, n1: c68 IS NOT NULL, v1: c68} END) AS c106, count(1) FILTER (WHERE c73) AS c107, count(1) FILTER (WHERE c76) AS c108, arg_min(CASE WHEN c76 THEN {'at': c16, 'words': c84} END, CASE WHEN c76 THEN {n0: c16 IS NOT NULL, v0: c16, n1: c84 IS NOT NULL, v1: c84} END) AS c109 FROM 
(SELECT c4, c14 AS c16, coalesce((c7 = 'message'), FALSE) AS c17, CASE WHEN coalesce((c7 = 'message'), FALSE) THEN (NOT coalesce(list_all(list_transform(c12, lambda v19: (((NOT ((v19)."act" = 'applied')) OR (v19)."deleted") OR (NOT list_any(list_transform(c12, lambda v20: ((((v20)."seq" < (v19)."seq") AND (NOT (v20)."deleted")) AND ((NOT ((v20)."act" = 'tombstone dropped')) AND (coalesce((map_extract_value((v20)."pcl", (v19)."guid") >= (v19)."counter"), FALSE) AND (NOT list_contains_or_null(coalesce((v20)."rivals", CAST([] AS VARCHAR[])), (v19)."number"))))))))))), FALSE)) ELSE FALSE END AS c18, CASE WHEN CASE WHEN coalesce((c7 = 'message'), FALSE) THEN (NOT coalesce(list_all(list_transform(c12, lambda v22: (((NOT ((v22)."act" = 'applied')) OR (v22)."deleted") OR (NOT list_any(list_transform(c12, lambda v23: ((((v23)."seq" < (v22)."seq") AND (NOT (v23)."deleted")) AND ((NOT ((v23)."act" = 'tombstone dropped')) AND (coalesce((map_extract_value((v23)."pcl", (v22)."guid") >= (v22)."counter"), FALSE) AND (NOT list_contains_or_null(coalesce((v23)."rivals", CAST([] AS VARCHAR[])), (v22)."number"))))))))))), FALSE)) ELSE FALSE END THEN (c3 || ' applied a version of ' || ('object=' || c6) || ' that is older than the version that it had') END AS c21, coalesce((((c5 = '1-1') OR (c7 = 'fai')) AND (NOT list_any(list_transform(c12, lambda v25: ((v25)."act" = 'tombstone dropped'))))), FALSE) AS c24, CASE WHEN coalesce((((c5 = '1-1') OR (c7 = 'fai')) AND (NOT list_any(list_transform(c12, lambda v27: ((v27)."act" = 'tombstone dropped'))))), FALSE) THEN (NOT coalesce((NOT list_any(list_transform(c12, lambda v28: ((((v28)."act" = 'applied') AND (NOT (v28)."deleted")) AND list_any(list_transform(c12, lambda v29: ((((v29)."seq" < (v28)."seq") AND (NOT (v29)."deleted")) AND ({n0: (v29)."modified_at" IS NOT NULL, v0: (v29)."modified_at", n1: (v29)."guid" IS NOT NULL, v1: (v29)."guid", n2: (v29)."counter" IS NOT NULL, v2: (v29)."counter"} > {n0: (v28)."modified_at" IS NOT NULL, v0: (v28)."modified_at", n1: (v28)."guid" IS NOT NULL, v1: (v28)."guid", n2: (v28)."counter" IS NOT NULL, v2: (v28)."counter"})))))))), FALSE)) ELSE FALSE END AS c26, CASE WHEN CASE WHEN coalesce((((c5 = '1-1') OR (c7 = 'fai')) AND (NOT list_any(list_transform(c12, lambda v31: ((v31)."act" = 'tombstone dropped'))))), FALSE) THEN (NOT coalesce((NOT list_any(list_transform(c12, lambda v32: ((((v32)."act" = 'applied') AND (NOT (v32)."deleted")) AND list_any(list_transform(c12, lambda v33: ((((v33)."seq" < (v32)."seq") AND (NOT (v33)."deleted")) AND ({n0: (v33)."modified_at" IS NOT NULL, v0: (v33)."modified_at", n1: (v33)."guid" IS NOT NULL, v1: (v33)."guid", n2: (v33)."counter" IS NOT NULL, v2: (v33)."counter"} > {n0: (v32)."modified_at" IS NOT NULL, v0: (v32)."modified_at", n1: (v32)."guid" IS NOT NULL, v1: (v32)."guid", n2: (v32)."counter" IS NOT NULL, v2: (v32)."counter"})))))))), FALSE)) ELSE FALSE END THEN (c3 || ' replaced a later version of ' || ('object=' || c6) || ' by an older one') END AS c30, coalesce((list_any(list_transform(c12, lambda v35: (v35)."deleted")) AND (NOT list_any(list_transform(c12, lambda v36: ((v36)."act" = 'tombstone dropped'))))), FALSE) AS c34, CASE WHEN coalesce((list_any(list_transform(c12, lambda v38: (v38)."deleted")) AND (NOT list_any(list_transform(c12, lambda v39: ((v39)."act" = 'tombstone dropped'))))), FALSE) THEN (NOT coalesce((NOT list_any(list_transform(c12, lambda v40: ((((v40)."act" = 'applied') AND (NOT (v40)."deleted")) AND list_any(list_transform(c12, lambda v41: ((v41)."deleted" AND ((v41)."seq" < (v40)."seq")))))))), FALSE)) ELSE FALSE END AS c37, CASE WHEN CASE WHEN coalesce((list_any(list_transform(c12, lambda v43: (v43)."deleted")) AND (NOT list_any(list_transform(c12, lambda v44: ((v44)."act" = 'tombstone dropped'))))), FALSE) THEN (NOT coalesce((NOT list_any(list_transform(c12, lambda v45: ((((v45)."act" = 'applied') AND (NOT (v45)."deleted")) AND list_any(list_transform(c12, lambda v46: ((v46)."deleted" AND ((v46)."seq" < (v45)."seq")))))))), FALSE)) ELSE FALSE END THEN (c3 || ' applied a version of ' || ('object=' || c6) || ' after its deletion') END AS c42, coalesce((list_any(list_transform(c12, lambda v48: (v48)."deleted")) AND (NOT list_any(list_transform(c12, lambda v49: ((v49)."act" = 'tombstone dropped'))))), FALSE) AS c47, CASE WHEN coalesce((list_any(list_transform(c12, lambda v51: (v51)."deleted")) AND (NOT list_any(list_transform(c12, lambda v52: ((v52)."act" = 'tombstone dropped'))))), FALSE) THEN (NOT coalesce((NOT list_any(list_transform(c12, lambda v53: (((v53)."act" = 'made') AND list_any(list_transform(c12, lambda v54: ((v54)."deleted" AND ((v54)."seq" < (v53)."seq")))))))), FALSE)) ELSE FALSE END AS c50, CASE WHEN CASE WHEN coalesce((list_any(list_transform(c12, lambda v56: (v56)."deleted")) AND (NOT list_any(list_transform(c12, lambda v57: ((v57)."act" = 'tombstone dropped'))))), FALSE) THEN (NOT coalesce((NOT list_any(list_transform(c12, lambda v58: (((v58)."act" = 'made') AND list_any(list_transform(c12, lambda v59: ((v59)."deleted" AND ((v59)."seq" < (v58)."seq")))))))), FALSE)) ELSE FALSE END THEN (c3 || ' changed ' || ('object=' || c6) || ' after its deletion') END AS c55, coalesce(((c7 = 'message') AND list_any(list_transform(c12, lambda v61: (((v61)."act" = 'made') AND list_any(list_transform(c12, lambda v62: ((v62)."seq" < (v61)."seq"))))))), FALSE) AS c60, CASE WHEN coalesce(((c7 = 'message') AND list_any(list_transform(c12, lambda v64: (((v64)."act" = 'made') AND list_any(list_transform(c12, lambda v65: ((v65)."seq" < (v64)."seq"))))))), FALSE) THEN (NOT coalesce(list_all(list_transform(c12, lambda v66: ((NOT ((v66)."act" = 'made')) OR list_all(list_transform(c12, lambda v67: ((((v67)."seq" >= (v66)."seq") OR ((v67)."act" = 'tombstone dropped')) OR (list_contains_or_null(coalesce((v66)."rivals", CAST([] AS VARCHAR[])), (v67)."number") OR (coalesce((map_extract_value((v66)."pcl", (v67)."guid") >= (v67)."counter"), FALSE) AND (NOT list_contains_or_null(coalesce((v66)."rivals", CAST([] AS VARCHAR[])), (v67)."number")))))))))), FALSE)) ELSE FALSE END AS c63, CASE WHEN CASE WHEN coalesce(((c7 = 'message') AND list_any(list_transform(c12, lambda v69: (((v69)."act" = 'made') AND list_any(list_transform(c12, lambda v70: ((v70)."seq" < (v69)."seq"))))))), FALSE) THEN (NOT coalesce(list_all(list_transform(c12, lambda v71: ((NOT ((v71)."act" = 'made')) OR list_all(list_transform(c12, lambda v72: ((((v72)."seq" >= (v71)."seq") OR ((v72)."act" = 'tombstone dropped')) OR (list_contains_or_null(coalesce((v71)."rivals", CAST([] AS VARCHAR[])), (v72)."number") OR (coalesce((map_extract_value((v71)."pcl", (v72)."guid") >= (v72)."counter"), FALSE) AND (NOT list_contains_or_null(coalesce((v71)."rivals", CAST([] AS VARCHAR[])), (v72)."number")))))))))), FALSE)) ELSE FALSE END THEN (c3 || ' changed ' || ('object=' || c6) || ' without covering a version that it had') END AS c68, coalesce(((c7 = 'message') AND list_any(list_transform(c12, lambda v74: (((v74)."act" = 'made') AND list_any(list_transform(c12, lambda v75: ((v75)."seq" < (v74)."seq"))))))), FALSE) AS c73, CASE WHEN coalesce(((c7 = 'message') AND list_any(list_transform(c12, lambda v77: (((v77)."act" = 'made') AND list_any(list_transform(c12, lambda v78: ((v78)."seq" < (v77)."seq"))))))), FALSE) THEN (NOT coalesce((NOT list_any(list_transform(c12, lambda v79: (((v79)."act" = 'made') AND list_any(list_transform([list_extract(list_transform(list_sort(list_transform(list_known(list_transform(list_filter(c12, lambda v82: (((v82)."seq" < (v79)."seq") AND (NOT ((v82)."act" = 'tombstone dropped')))), lambda v81: {'seq': (v81)."seq", 'number': (v81)."number", 'guid': (v81)."guid", 'counter': (v81)."counter"})), lambda v83: {k: CASE WHEN v83 IS NOT NULL THEN {n0: (v83)."seq" IS NOT NULL, v0: (v83)."seq", n1: (v83)."number" IS NOT NULL, v1: (v83)."number", n2: (v83)."guid" IS NOT NULL, v2: (v83)."guid", n3: (v83)."counter" IS NOT NULL, v3: (v83)."counter"} END, v: v83}), 'ASC', 'NULLS LAST'), lambda v83: v83.v), -1)], lambda v80: ((NOT list_contains_or_null(coalesce((v79)."supersedes", CAST([] AS VARCHAR[])), (v80)."number")) AND (coalesce((map_extract_value((v79)."pcl", (v80)."guid") >= (v80)."counter"), FALSE) AND (NOT list_contains_or_null(coalesce((v79)."rivals", CAST([] AS VARCHAR[])), (v80)."number")))))))))), FALSE)) ELSE FALSE END AS c76, CASE WHEN CASE WHEN coalesce(((c7 = 'message') AND list_any(list_transform(c12, lambda v85: (((v85)."act" = 'made') AND list_any(list_transform(c12, lambda v86: ((v86)."seq" < (v85)."seq"))))))), FALSE) THEN (NOT coalesce((NOT list_any(list_transform(c12, lambda v87: (((v87)."act" = 'made') AND list_any(list_transform([list_extract(list_transform(list_sort(list_transform(list_known(list_transform(list_filter(c12, lambda v90: (((v90)."seq" < (v87)."seq") AND (NOT ((v90)."act" = 'tombstone dropped')))), lambda v89: {'seq': (v89)."seq", 'number': (v89)."number", 'guid': (v89)."guid", 'counter': (v89)."counter"})), lambda v91: {k: CASE WHEN v91 IS NOT NULL THEN {n0: (v91)."seq" IS NOT NULL, v0: (v91)."seq", n1: (v91)."number" IS NOT NULL, v1: (v91)."number", n2: (v91)."guid" IS NOT NULL, v2: (v91)."guid", n3: (v91)."counter" IS NOT NULL, v3: (v91)."counter"} END, v: v91}), 'ASC', 'NULLS LAST'), lambda v91: v91.v), -1)], lambda v88: ((NOT list_contains_or_null(coalesce((v87)."supersedes", CAST([] AS VARCHAR[])), (v88)."number")) AND (coalesce((map_extract_value((v87)."pcl", (v88)."guid") >= (v88)."counter"), FALSE) AND (NOT list_contains_or_null(coalesce((v87)."rivals", CAST([] AS VARCHAR[])), (v88)."number")))))))))), FALSE)) ELSE FALSE END THEN (c3 || ' made a version of ' || ('object=' || c6) || ' that replaces the version before it, but is not made from it') END AS c84 FROM 
(SELECT c4, c5, c6, c7, c3, c12, list_max(list_transform(c12, lambda v15: (v15)."at")) AS c14 FROM 
(SELECT c4, c5, c6, c7, c3, c12 FROM 
(SELECT c4, c5, c6, c7, c3, list_filter(c9, lambda v13: ((v13)."store" = c3)) AS c12 FROM 
(SELECT c4, c5, c6, c7, c9, c3 FROM 
(SELECT * EXCLUDE (uc3), uc3 AS c3 FROM (SELECT *, unnest(list_unique(list_transform(c9, lambda v11: (v11)."store"))) AS uc3 FROM 
(SELECT c4, c5, c6, c7, list_filter(c8, lambda v10: ((((v10)."seq" > (0)::BIGINT) AND (NOT (v10)."undone")) AND (NOT (v10)."dropped"))) AS c9 FROM 
(SELECT "trace" AS c4, "folder" AS c5, "object" AS c6, "kind" AS c7, "rows" AS c8 FROM "evidence/objects"))))))))) GROUP BY c4))))) WHERE (c1 > (0)::BIGINT));

-- table rules/deferred needs version.held
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c5 AS "trace", c20 AS "check", c1 AS "consumed", c21 AS "violations", c22 AS "at", c23 AS "witness" FROM (SELECT * FROM 
(SELECT c5, (c2)."check" AS c20, (c2)."consumed" AS c1, (c2)."violations" AS c21, (c2)."at" AS c22, (c2)."witness" AS c23 FROM 
(SELECT c5, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'deferred versions wait 7 days or 4 hours', 'consumed': c17, 'violations': c18, 'at': (c19)."at", 'witness': (c19)."words"}]) AS uc2 FROM 
(SELECT c5, count(1) FILTER (WHERE c14) AS c17, count(1) FILTER (WHERE c15) AS c18, arg_min(CASE WHEN c15 THEN {'at': c13, 'words': c16} END, CASE WHEN c15 THEN {n0: c13 IS NOT NULL, v0: c13, n1: c16 IS NOT NULL, v1: c16} END) AS c19 FROM 
(SELECT c5, c7 AS c13, coalesce(TRUE, FALSE) AS c14, CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce((subtract_wrapped(c10, c7) = CASE WHEN (c9 = '1-1') THEN 604800000000::BIGINT ELSE 14400000000::BIGINT END), FALSE)) ELSE FALSE END AS c15, CASE WHEN CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce((subtract_wrapped(c10, c7) = CASE WHEN (c9 = '1-1') THEN 604800000000::BIGINT ELSE 14400000000::BIGINT END), FALSE)) ELSE FALSE END THEN (c6 || ' defers ' || c8 || ' for another time') END AS c16 FROM 
(SELECT c5, c6, c7, c9, c8, c10 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c5, c6, c7, c9, c8, c10 FROM 
(SELECT "trace" AS c5, "node" AS c6, "type" AS c4, "at" AS c7, "number" AS c8, "folder" AS c9, "until_at" AS c10, "family" AS c3 FROM "silver/events") WHERE ((c3 IN ('change')) AND (c4 IN ('version.held'))))) SEMI JOIN 
(SELECT * FROM 
(SELECT "trace" AS c11, "node" AS c12 FROM "evidence/plain")) ON ((c5 = c11) AND (c6 = c12))))) GROUP BY c5))))) WHERE (c1 > (0)::BIGINT));

-- table rules/deletions needs change.made,version.applied
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c6 AS "trace", c30 AS "check", c1 AS "consumed", c31 AS "violations", c32 AS "at", c33 AS "witness" FROM (SELECT * FROM 
(SELECT c6, (c2)."check" AS c30, (c2)."consumed" AS c1, (c2)."violations" AS c31, (c2)."at" AS c32, (c2)."witness" AS c33 FROM 
(SELECT c6, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'deletions leave a tombstone', 'consumed': c27, 'violations': c28, 'at': (c29)."at", 'witness': (c29)."words"}]) AS uc2 FROM 
(SELECT c6, count(1) FILTER (WHERE c24) AS c27, count(1) FILTER (WHERE c25) AS c28, arg_min(CASE WHEN c25 THEN {'at': c23, 'words': c26} END, CASE WHEN c25 THEN {n0: c23 IS NOT NULL, v0: c23, n1: c26 IS NOT NULL, v1: c26} END) AS c29 FROM 
(SELECT c6, c10 AS c23, coalesce(TRUE, FALSE) AS c24, CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce(c22, FALSE)) ELSE FALSE END AS c25, CASE WHEN CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce(c22, FALSE)) ELSE FALSE END THEN (c12 || ' deleted ' || ('object=' || c9) || ' by ' || c11 || ' but kept no tombstone') END AS c26 FROM 
(SELECT c6, c12, c10, c9, c11, coalesce(c21, FALSE) AS c22 FROM 
(SELECT c6, c12, c10, c9, c11, c21 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c6, c7 AS c12, c10, c8, c9, c11 FROM 
(SELECT "trace" AS c6, "store" AS c7, "folder" AS c8, "object" AS c9, "act" AS c5, "seq" AS c4, "at" AS c10, "number" AS c11, "deleted" AS c3 FROM "evidence/versions") WHERE ((c3 AND (c4 > (0)::BIGINT)) AND (c5 IN ('made', 'applied'))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c14, c18, c16, c17, c15, c13, TRUE AS c21 FROM 
(SELECT DISTINCT c13, c14, c15, c16, c17, c18 FROM 
(SELECT c14, c18, c16, c17, c15, c13 FROM 
(SELECT c14, c18, c16, c17, c15, c13 FROM 
(SELECT "trace" AS c14, "node" AS c18, "type" AS c20, "at" AS c16, "number" AS c13, "folder" AS c17, "object" AS c15, "family" AS c19 FROM "silver/events") WHERE ((c19 IN ('change')) AND (c20 IN ('tombstone.made')))))))) ON ((((((c6 = c14) AND (c12 = c18)) AND (c10 = c16)) AND (c8 = c17)) AND (c9 = c15)) AND (c11 = c13)))))) GROUP BY c6))))) WHERE (c1 > (0)::BIGINT));

-- table rules/drops needs replica.dropped,tombstone.dropped
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c5 AS "trace", c97 AS "check", c1 AS "consumed", c98 AS "violations", c99 AS "at", c100 AS "witness" FROM (SELECT * FROM 
(SELECT c5, (c2)."check" AS c97, (c2)."consumed" AS c1, (c2)."violations" AS c98, (c2)."at" AS c99, (c2)."witness" AS c100 FROM 
(SELECT c5, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'tombstones are kept for 180 days', 'consumed': c88, 'violations': c89, 'at': (c90)."at", 'witness': (c90)."words"}, {'check': 'dropped tombstones are known to all holders', 'consumed': c91, 'violations': c92, 'at': (c93)."at", 'witness': (c93)."words"}, {'check': 'a dropped replica is complete elsewhere', 'consumed': c94, 'violations': c95, 'at': (c96)."at", 'witness': (c96)."words"}]) AS uc2 FROM 
(SELECT c5, count(1) FILTER (WHERE c79) AS c88, count(1) FILTER (WHERE c80) AS c89, arg_min(CASE WHEN c80 THEN {'at': c78, 'words': c81} END, CASE WHEN c80 THEN {n0: c78 IS NOT NULL, v0: c78, n1: c81 IS NOT NULL, v1: c81} END) AS c90, count(1) FILTER (WHERE c82) AS c91, count(1) FILTER (WHERE c83) AS c92, arg_min(CASE WHEN c83 THEN {'at': c78, 'words': c84} END, CASE WHEN c83 THEN {n0: c78 IS NOT NULL, v0: c78, n1: c84 IS NOT NULL, v1: c84} END) AS c93, count(1) FILTER (WHERE c85) AS c94, count(1) FILTER (WHERE c86) AS c95, arg_min(CASE WHEN c86 THEN {'at': c78, 'words': c87} END, CASE WHEN c86 THEN {n0: c78 IS NOT NULL, v0: c78, n1: c87 IS NOT NULL, v1: c87} END) AS c96 FROM 
(SELECT c5, c8 AS c78, coalesce((c77 AND (c3 = 'tombstone')), FALSE) AS c79, CASE WHEN coalesce((c77 AND (c3 = 'tombstone')), FALSE) THEN (NOT coalesce((subtract_wrapped(c8, c24) >= 15552000000000::BIGINT), FALSE)) ELSE FALSE END AS c80, CASE WHEN CASE WHEN coalesce((c77 AND (c3 = 'tombstone')), FALSE) THEN (NOT coalesce((subtract_wrapped(c8, c24) >= 15552000000000::BIGINT), FALSE)) ELSE FALSE END THEN (c6 || ' dropped the tombstone ' || c11 || ' too early') END AS c81, coalesce((c3 = 'tombstone'), FALSE) AS c82, CASE WHEN coalesce((c3 = 'tombstone'), FALSE) THEN (NOT coalesce((coalesce(len(c70)::INTEGER, -1) = 0), FALSE)) ELSE FALSE END AS c83, CASE WHEN CASE WHEN coalesce((c3 = 'tombstone'), FALSE) THEN (NOT coalesce((coalesce(len(c70)::INTEGER, -1) = 0), FALSE)) ELSE FALSE END THEN (c6 || ' dropped the tombstone ' || c11 || ', which the row of ' || list_text(c70, ' and ') || ' did not have') END AS c84, coalesce((((c3 = 'dropped') AND (NOT c14)) AND ((c73 > (0)::BIGINT) AND (NOT list_contains_or_null(c13, c6)))), FALSE) AS c85, CASE WHEN coalesce((((c3 = 'dropped') AND (NOT c14)) AND ((c73 > (0)::BIGINT) AND (NOT list_contains_or_null(c13, c6)))), FALSE) THEN (NOT coalesce(((coalesce(len(c70)::INTEGER, -1))::BIGINT < c73), FALSE)) ELSE FALSE END AS c86, CASE WHEN CASE WHEN coalesce((((c3 = 'dropped') AND (NOT c14)) AND ((c73 > (0)::BIGINT) AND (NOT list_contains_or_null(c13, c6)))), FALSE) THEN (NOT coalesce(((coalesce(len(c70)::INTEGER, -1))::BIGINT < c73), FALSE)) ELSE FALSE END THEN (c6 || ' dropped its replica of ' || ('folder=' || c9) || ', but no holder had all of it') END AS c87 FROM 
(SELECT c5, c6, c8, c9, c3, c11, c24, c13, c14, c70, c73, coalesce(c76, FALSE) AS c77 FROM 
(SELECT c5, c6, c8, c9, c3, c11, c24, c13, c14, c70, c73, c76 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c5, c6, c8, c9, c3, c11, c24, c13, c14, list_sort(coalesce(list(DISTINCT CASE WHEN (NOT list_all(list_transform(c26, lambda v71: list_any(list_transform(c68, lambda v72: ((((v72)."guid" = (v71)."guid") AND ((v72)."low" <= (v71)."low")) AND ((v71)."high" <= (v72)."high"))))))) THEN c4 END) FILTER (WHERE CASE WHEN (NOT list_all(list_transform(c26, lambda v71: list_any(list_transform(c68, lambda v72: ((((v72)."guid" = (v71)."guid") AND ((v72)."low" <= (v71)."low")) AND ((v71)."high" <= (v72)."high"))))))) THEN c4 END IS NOT NULL), []), 'ASC', 'NULLS LAST') AS c70, count(c4) AS c73 FROM 
(SELECT c5, c6, c7, c8, c9, c3, c10, c11, c24, c13, c14, c26, c4, CASE WHEN (c3 = 'dropped') THEN list_transform(c67, lambda v69: {'guid': text_replace((v69)."guid", ' fai', ''), 'low': (v69)."low", 'high': (v69)."high"}) ELSE c67 END AS c68 FROM 
(SELECT c5, c6, c7, c8, c9, c3, c10, c11, c24, c13, c14, c26, c4, c67 FROM 
(SELECT c5, c6, c7, c8, c9, c3, c10, c11, c24, c13, c14, c26, c4, coalesce(c66, CAST([] AS STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[])) AS c67 FROM 
(SELECT *, last_value(c31 IGNORE NULLS) OVER (PARTITION BY c5, c6, c9, c4 ORDER BY c7 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS c66 FROM 
(SELECT c5, c6, c7, c8, c9, c3, c10, c11, c24, c13, c14, c26, c4, c31 FROM 
(SELECT c5 AS c5, c6 AS c6, c7 AS c7, c8 AS c8, c9 AS c9, c3 AS c3, c10 AS c10, c11 AS c11, c24 AS c24, c13 AS c13, c14 AS c14, c26 AS c26, c4 AS c4, c31 AS c31 FROM 
(SELECT c5, c6, c7, c8, c9, c3, c10, c11, c24, c13, c14, c26, c4, CAST(NULL AS STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[]) AS c31 FROM 
(SELECT c5, c6, c7, c8, c9, c3, c10, c11, c24, c13, c14, c26, c4 FROM 
(SELECT * EXCLUDE (uc4), uc4 AS c4 FROM (SELECT *, unnest(CASE WHEN len(list_filter(c13, lambda v30: (NOT (v30 = c6)))) > 0 THEN list_filter(c13, lambda v30: (NOT (v30 = c6))) ELSE [NULL] END) AS uc4 FROM 
(SELECT c5, c11, c6, c7, c8, c9, c3, c10, c13, c14, c24, CASE WHEN (c3 = 'dropped') THEN list_flattened(list_transform(list_filter(str_split(coalesce(c12, ''), ';'), lambda v28: (NOT (v28 = ''))), lambda v27: list_transform(str_split(split_part(v27, ':', 2), ','), lambda v29: {'guid': CASE WHEN ('message' = 'fai') THEN (split_part(v27, ':', 1) || ' fai') ELSE split_part(v27, ':', 1) END, 'low': text_to_bigint(split_part(v29, '-', 1)), 'high': text_to_bigint(split_part(v29, '-', (-1)))}))) ELSE [{'guid': CASE WHEN (c25 = 'fai') THEN (split_part(c11, ':', 1) || ' fai') ELSE split_part(c11, ':', 1) END, 'low': text_to_bigint(split_part(c11, ':', -1)), 'high': text_to_bigint(split_part(c11, ':', -1))}] END AS c26 FROM 
(SELECT c5, c11, c6, c7, c8, c9, c3, c10, c12, c13, c14, c24, c25 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT "trace" AS c5, "node" AS c6, "seq" AS c7, "at" AS c8, "folder" AS c9, "what" AS c3, "object" AS c10, "number" AS c11, "had" AS c12, "holders" AS c13, "dead" AS c14 FROM "evidence/listed") WHERE (c3 IN ('tombstone', 'dropped'))) LEFT JOIN 
(SELECT * FROM 
(SELECT c16, c21, (c23)."modified_at" AS c24, (c23)."kind" AS c25 FROM 
(SELECT c16, c21, arg_min_null({'modified_at': c22, 'kind': c20}, {n0: c19 IS NOT NULL, v0: c19, n1: c17 IS NOT NULL, v1: c17, n2: c18 IS NOT NULL, v2: c18}) AS c23 FROM 
(SELECT "trace" AS c16, "store" AS c17, "act" AS c15, "seq" AS c18, "at" AS c19, "kind" AS c20, "number" AS c21, "modified_at" AS c22 FROM "evidence/versions") WHERE (c15 = 'made') GROUP BY c16, c21))) ON ((c5 = c16) AND (c11 = c21)))))))))
UNION ALL SELECT c34 AS c5, c35 AS c6, c36 AS c7, c58 AS c8, c38 AS c9, c59 AS c3, c60 AS c10, c61 AS c11, c62 AS c24, c63 AS c13, c64 AS c14, c65 AS c26, c37 AS c4, c51 AS c31 FROM 
(SELECT c34, c35, c36, CAST(NULL AS BIGINT) AS c58, c38, CAST(NULL AS VARCHAR) AS c59, CAST(NULL AS VARCHAR) AS c60, CAST(NULL AS VARCHAR) AS c61, CAST(NULL AS BIGINT) AS c62, CAST(NULL AS VARCHAR[]) AS c63, CAST(NULL AS BOOLEAN) AS c64, CAST(NULL AS STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[]) AS c65, c37, c51 FROM 
(SELECT c34, c35, c36, c38, c37, (list_flattened(list_transform(list_filter(str_split(c39, ';'), lambda v53: (NOT (v53 = ''))), lambda v52: list_transform(str_split(split_part(v52, ':', 2), ','), lambda v54: {'guid': CASE WHEN ('message' = 'fai') THEN (split_part(v52, ':', 1) || ' fai') ELSE split_part(v52, ':', 1) END, 'low': text_to_bigint(split_part(v54, '-', 1)), 'high': text_to_bigint(split_part(v54, '-', (-1)))}))) || list_flattened(list_transform(list_filter(str_split(c40, ';'), lambda v56: (NOT (v56 = ''))), lambda v55: list_transform(str_split(split_part(v55, ':', 2), ','), lambda v57: {'guid': CASE WHEN ('fai' = 'fai') THEN (split_part(v55, ':', 1) || ' fai') ELSE split_part(v55, ':', 1) END, 'low': text_to_bigint(split_part(v57, '-', 1)), 'high': text_to_bigint(split_part(v57, '-', (-1)))})))) AS c51 FROM 
(SELECT c34, c35, c38, c37, c36, c39, c40 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c34, c35, c36, c38, c37, c39, c40 FROM 
(SELECT "trace" AS c34, "node" AS c35, "type" AS c33, "seq" AS c36, "store" AS c37, "folder" AS c38, "cnset" AS c39, "cnset_fai" AS c40, "family" AS c32 FROM "silver/events") WHERE ((c32 IN ('replication')) AND (c33 IN ('row.replaced'))))) SEMI JOIN 
(SELECT * FROM 
(SELECT DISTINCT c41, c42, c43, c44 FROM 
(SELECT c41, c42, c43, c44 FROM 
(SELECT c41, c42, c43, c44 FROM 
(SELECT * EXCLUDE (uc44), uc44 AS c44 FROM (SELECT *, unnest(CASE WHEN len(list_filter(c47, lambda v30: (NOT (v30 = c42)))) > 0 THEN list_filter(c47, lambda v30: (NOT (v30 = c42))) ELSE [NULL] END) AS uc44 FROM 
(SELECT c41, c42, c43, c47 FROM 
(SELECT c41, c42, c43, c47 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT "trace" AS c41, "node" AS c42, "folder" AS c43, "what" AS c45, "number" AS c46, "holders" AS c47 FROM "evidence/listed") WHERE (c45 IN ('tombstone', 'dropped'))) LEFT JOIN 
(SELECT * FROM 
(SELECT c49, c50 FROM 
(SELECT c49, c50 FROM 
(SELECT "trace" AS c49, "act" AS c48, "number" AS c50 FROM "evidence/versions") WHERE (c48 = 'made') GROUP BY c49, c50))) ON ((c41 = c49) AND (c46 = c50))))))))))) ON ((((c34 = c41) AND (c35 = c42)) AND (c38 = c43)) AND (c37 = c44)))))))))))) WHERE (c3 IS NOT NULL) GROUP BY c5, c6, c7, c8, c9, c3, c10, c11, c24, c13, c14)) LEFT JOIN 
(SELECT * FROM 
(SELECT c74, c75, TRUE AS c76 FROM 
(SELECT "trace" AS c74, "node" AS c75 FROM "evidence/plain"))) ON ((c5 = c74) AND (c6 = c75)))))) GROUP BY c5))))) WHERE (c1 > (0)::BIGINT));

-- table rules/recoveries needs item.recovered
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c5 AS "trace", c41 AS "check", c1 AS "consumed", c42 AS "violations", c43 AS "at", c44 AS "witness" FROM (SELECT * FROM 
(SELECT c5, (c2)."check" AS c41, (c2)."consumed" AS c1, (c2)."violations" AS c42, (c2)."at" AS c43, (c2)."witness" AS c44 FROM 
(SELECT c5, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'recovered items were retained', 'consumed': c38, 'violations': c39, 'at': (c40)."at", 'witness': (c40)."words"}]) AS uc2 FROM 
(SELECT c5, count(1) FILTER (WHERE c35) AS c38, count(1) FILTER (WHERE c36) AS c39, arg_min(CASE WHEN c36 THEN {'at': c34, 'words': c37} END, CASE WHEN c36 THEN {n0: c34 IS NOT NULL, v0: c34, n1: c37 IS NOT NULL, v1: c37} END) AS c40 FROM 
(SELECT c5, c7 AS c34, coalesce(TRUE, FALSE) AS c35, CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce(((c32 AND c33) AND ((c7 >= c12) AND (c7 <= add_wrapped(c12, c13)))), FALSE)) ELSE FALSE END AS c36, CASE WHEN CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce(((c32 AND c33) AND ((c7 >= c12) AND (c7 <= add_wrapped(c12, c13)))), FALSE)) ELSE FALSE END THEN (c6 || ' recovered ' || c8 || ' by ' || c9 || ', which it had not deleted, or no longer retained, or did not create as a new object') END AS c37 FROM 
(SELECT c5, c6, c8, c12, c9, c7, c13, coalesce(c19, FALSE) AS c32, coalesce(c27, FALSE) AS c33 FROM 
(SELECT c5, c6, c8, c12, c9, c7, c13, c19, c27 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c5, c6, c9, c7, c8, c12, c13, c19 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c5, c6, c7, c10, c11, c9, c8, c12, c13 FROM 
(SELECT c5, c6, c7, c10, c11, c9, c8, c12, c13 FROM 
(SELECT "trace" AS c5, "node" AS c6, "type" AS c4, "at" AS c7, "of" AS c8, "number" AS c9, "folder" AS c10, "object" AS c11, "deleted_at" AS c12, "retention_us" AS c13, "family" AS c3 FROM "silver/events") WHERE ((c3 IN ('change')) AND (c4 IN ('item.recovered')))))) LEFT JOIN 
(SELECT * FROM 
(SELECT DISTINCT c14, c15, c16, c17, c18, c19 FROM 
(SELECT c15, c18, c17, c16, c14, TRUE AS c19 FROM 
(SELECT c15, c18, c17, c16, c14, c20 FROM 
(SELECT "trace" AS c15, "node" AS c18, "type" AS c22, "number" AS c14, "folder" AS c17, "object" AS c16, "operation" AS c20, "family" AS c21 FROM "silver/events") WHERE ((c21 IN ('change')) AND (c22 IN ('change.made')))) WHERE (c20 = 'create')))) ON (((((c5 = c15) AND (c6 = c18)) AND (c10 = c17)) AND (c11 = c16)) AND (c9 = c14))))) LEFT JOIN 
(SELECT * FROM 
(SELECT DISTINCT c23, c24, c25, c26, c27 FROM 
(SELECT c23, c24, c31 AS c26, c30 AS c25, TRUE AS c27 FROM 
(SELECT c23, c24, c30, c31 FROM 
(SELECT "trace" AS c23, "node" AS c24, "type" AS c29, "at" AS c30, "object" AS c31, "family" AS c28 FROM "silver/events") WHERE ((c28 IN ('change')) AND (c29 IN ('tombstone.made'))))))) ON ((((c5 = c23) AND (c6 = c24)) AND (c8 = c26)) AND (c12 = c25)))))) GROUP BY c5))))) WHERE (c1 > (0)::BIGINT));

-- table rules/notices needs conflict.arose,conflict.notice
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c4 AS "trace", c58 AS "check", c1 AS "consumed", c59 AS "violations", c60 AS "at", c61 AS "witness" FROM (SELECT * FROM 
(SELECT c4, (c2)."check" AS c58, (c2)."consumed" AS c1, (c2)."violations" AS c59, (c2)."at" AS c60, (c2)."witness" AS c61 FROM 
(SELECT c4, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'the home store or the author reports a lost edit', 'consumed': c46, 'violations': c47, 'at': (c48)."at", 'witness': (c48)."words"}, {'check': 'the home store sends conflict notices', 'consumed': c49, 'violations': c50, 'at': (c51)."at", 'witness': (c51)."words"}, {'check': 'only the home store sends conflict notices', 'consumed': c52, 'violations': c53, 'at': (c54)."at", 'witness': (c54)."words"}, {'check': 'conflict notices follow the resolve method', 'consumed': c55, 'violations': c56, 'at': (c57)."at", 'witness': (c57)."words"}]) AS uc2 FROM 
(SELECT c4, count(1) FILTER (WHERE c34) AS c46, count(1) FILTER (WHERE c35) AS c47, arg_min(CASE WHEN c35 THEN {'at': c33, 'words': c36} END, CASE WHEN c35 THEN {n0: c33 IS NOT NULL, v0: c33, n1: c36 IS NOT NULL, v1: c36} END) AS c48, count(1) FILTER (WHERE c37) AS c49, count(1) FILTER (WHERE c38) AS c50, arg_min(CASE WHEN c38 THEN {'at': c33, 'words': c39} END, CASE WHEN c38 THEN {n0: c33 IS NOT NULL, v0: c33, n1: c39 IS NOT NULL, v1: c39} END) AS c51, count(1) FILTER (WHERE c40) AS c52, count(1) FILTER (WHERE c41) AS c53, arg_min(CASE WHEN c41 THEN {'at': c33, 'words': c42} END, CASE WHEN c41 THEN {n0: c33 IS NOT NULL, v0: c33, n1: c42 IS NOT NULL, v1: c42} END) AS c54, count(1) FILTER (WHERE c43) AS c55, count(1) FILTER (WHERE c44) AS c56, arg_min(CASE WHEN c44 THEN {'at': c33, 'words': c45} END, CASE WHEN c44 THEN {n0: c33 IS NOT NULL, v0: c33, n1: c45 IS NOT NULL, v1: c45} END) AS c57 FROM 
(SELECT c4, c7 AS c33, coalesce(((c3 = 'notice') AND (coalesce(len(c10)::INTEGER, -1) = 1)), FALSE) AS c34, CASE WHEN coalesce(((c3 = 'notice') AND (coalesce(len(c10)::INTEGER, -1) = 1)), FALSE) THEN (NOT coalesce(((list_item(c11, 0) = c5) OR (c22 = c5)), FALSE)) ELSE FALSE END AS c35, CASE WHEN CASE WHEN coalesce(((c3 = 'notice') AND (coalesce(len(c10)::INTEGER, -1) = 1)), FALSE) THEN (NOT coalesce(((list_item(c11, 0) = c5) OR (c22 = c5)), FALSE)) ELSE FALSE END THEN (c5 || ' sent the notice of the lost edit ' || list_item(c10, 0) || ' but is neither the home store nor its author') END AS c36, coalesce((((c3 = 'conflict') AND c12) AND ((list_item(c11, 0) = c5) AND (c25 = 'default'))), FALSE) AS c37, CASE WHEN coalesce((((c3 = 'conflict') AND c12) AND ((list_item(c11, 0) = c5) AND (c25 = 'default'))), FALSE) THEN (NOT coalesce(c15, FALSE)) ELSE FALSE END AS c38, CASE WHEN CASE WHEN coalesce((((c3 = 'conflict') AND c12) AND ((list_item(c11, 0) = c5) AND (c25 = 'default'))), FALSE) THEN (NOT coalesce(c15, FALSE)) ELSE FALSE END THEN (c5 || ' sent no notice of the conflict of ' || ('object=' || c9)) END AS c39, coalesce(((c3 = 'notice') AND (coalesce(len(c10)::INTEGER, -1) > 1)), FALSE) AS c40, CASE WHEN coalesce(((c3 = 'notice') AND (coalesce(len(c10)::INTEGER, -1) > 1)), FALSE) THEN (NOT coalesce((((list_item(c11, 0) = c5) OR (NOT c32)) OR (subtract_wrapped(c7, c17) >= 172800000000::BIGINT)), FALSE)) ELSE FALSE END AS c41, CASE WHEN CASE WHEN coalesce(((c3 = 'notice') AND (coalesce(len(c10)::INTEGER, -1) > 1)), FALSE) THEN (NOT coalesce((((list_item(c11, 0) = c5) OR (NOT c32)) OR (subtract_wrapped(c7, c17) >= 172800000000::BIGINT)), FALSE)) ELSE FALSE END THEN (c5 || ' sent a notice of the conflict of ' || ('object=' || c9) || ', but the home store is ' || list_item(c11, 0)) END AS c42, coalesce((((c3 = 'notice') AND (coalesce(len(c10)::INTEGER, -1) > 1)) AND c12), FALSE) AS c43, CASE WHEN coalesce((((c3 = 'notice') AND (coalesce(len(c10)::INTEGER, -1) > 1)) AND c12), FALSE) THEN (NOT coalesce((coalesce(c25, 'default') = 'default'), FALSE)) ELSE FALSE END AS c44, CASE WHEN CASE WHEN coalesce((((c3 = 'notice') AND (coalesce(len(c10)::INTEGER, -1) > 1)) AND c12), FALSE) THEN (NOT coalesce((coalesce(c25, 'default') = 'default'), FALSE)) ELSE FALSE END THEN (c5 || ' sent a notice of the conflict of ' || ('object=' || c9) || ', but the resolve method of its folder is: ' || c25) END AS c45 FROM 
(SELECT c4, c5, c7, c3, c9, c10, c11, c12, c15, c17, c22, c25, coalesce(c31, FALSE) AS c32 FROM 
(SELECT c4, c5, c7, c3, c9, c10, c11, c12, c15, c17, c22, c25, c31 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c4, c5, c7, c3, c9, c10, c11, c12, c15, c17, c22, c25 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c4, c5, c7, c8, c3, c9, c10, c11, c12, c15, c17, c22 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c4, c5, c7, c8, c3, c9, c10, c11, c12, c15, c17, split_part(list_item(c10, 0), ':', 1) AS c18 FROM 
(SELECT c4, c5, c7, c8, c3, c9, c10, c11, c12, c15, c17 FROM 
(SELECT c4, c5, c7, c8, c3, c9, c10, c11, c12, c15, c17, c17 FROM 
(SELECT *, min(c16) OVER (PARTITION BY c4, c5, c9 ORDER BY c6 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS c17 FROM 
(SELECT c4, c5, c6, c7, c8, c3, c9, c10, c11, c12, c15, CASE WHEN (c3 = 'conflict') THEN c7 END AS c16 FROM 
(SELECT c4, c5, c6, c7, c8, c3, c9, c10, c11, c12, c15 FROM 
(SELECT c4, c5, c6, c7, c8, c3, c9, c10, c11, c12, list_contains(c14, c10) AS c15 FROM 
(SELECT *, coalesce(list(DISTINCT c13) FILTER (WHERE c13 IS NOT NULL) OVER (PARTITION BY c4, c5, c7, c9), []) AS c14 FROM 
(SELECT c4, c5, c6, c7, c8, c3, c9, c10, c11, c12, CASE WHEN (c3 = 'notice') THEN c10 END AS c13 FROM 
(SELECT "trace" AS c4, "node" AS c5, "seq" AS c6, "at" AS c7, "folder" AS c8, "what" AS c3, "object" AS c9, "versions" AS c10, "holders" AS c11, "untouched" AS c12 FROM "evidence/listed") WHERE (c3 IN ('conflict', 'notice')))))))))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c19, c20, c21 AS c22 FROM 
(SELECT "trace" AS c19, "guid" AS c20, "store" AS c21 FROM "organization/guids"))) ON ((c4 = c19) AND (c18 = c20))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c23, concat_ws(':', c27, (c24)::VARCHAR) AS c28, c25 FROM 
(SELECT c23, c24, c25, c27 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT "trace" AS c23, "n" AS c24, "resolve" AS c25 FROM "organization/genesis")) JOIN 
(SELECT * FROM 
(SELECT "trace" AS c26, "guid" AS c27 FROM "organization/setup")) ON (c23 = c26))))) ON ((c4 = c23) AND (c8 = c28))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c29, c30, TRUE AS c31 FROM 
(SELECT "trace" AS c29, "node" AS c30 FROM "evidence/plain"))) ON ((c4 = c29) AND (c5 = c30)))))) GROUP BY c4))))) WHERE (c1 > (0)::BIGINT));

-- table rules/conflicts needs conflict.arose
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c6 AS "trace", c31 AS "check", c1 AS "consumed", c32 AS "violations", c33 AS "at", c34 AS "witness" FROM (SELECT * FROM 
(SELECT c6, (c2)."check" AS c31, (c2)."consumed" AS c1, (c2)."violations" AS c32, (c2)."at" AS c33, (c2)."witness" AS c34 FROM 
(SELECT c6, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'the last writer wins a conflict', 'consumed': c28, 'violations': c29, 'at': (c30)."at", 'witness': (c30)."words"}]) AS uc2 FROM 
(SELECT c6, count(1) FILTER (WHERE c25) AS c28, count(1) FILTER (WHERE c26) AS c29, arg_min(CASE WHEN c26 THEN {'at': c24, 'words': c27} END, CASE WHEN c26 THEN {n0: c24 IS NOT NULL, v0: c24, n1: c27 IS NOT NULL, v1: c27} END) AS c30 FROM 
(SELECT c6, c9 AS c24, coalesce((c22 = c23), FALSE) AS c25, CASE WHEN coalesce((c22 = c23), FALSE) THEN (NOT coalesce((c12 = c21), FALSE)) ELSE FALSE END AS c26, CASE WHEN CASE WHEN coalesce((c22 = c23), FALSE) THEN (NOT coalesce((c12 = c21), FALSE)) ELSE FALSE END THEN (c7 || ' shows ' || c12 || ' of ' || ('object=' || c11) || ', but ' || c21 || ' is the winner') END AS c27 FROM 
(SELECT c6, c7, c9, c11, c12, arg_max_null(c3, {n0: c18 IS NOT NULL, v0: c18, n1: c19 IS NOT NULL, v1: c19, n2: c20 IS NOT NULL, v2: c20}) AS c21, count(c18) AS c22, count(1) AS c23 FROM 
(SELECT c6, c3, c7, c8, c9, c10, c11, c12, c18, c19, c20 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c6, c7, c8, c9, c10, c11, c12, c3 FROM 
(SELECT * EXCLUDE (uc3), uc3 AS c3 FROM (SELECT *, unnest(c13) AS uc3 FROM 
(SELECT c6, c7, c8, c9, c10, c11, c13, c12 FROM 
(SELECT "trace" AS c6, "node" AS c7, "type" AS c5, "seq" AS c8, "at" AS c9, "folder" AS c10, "object" AS c11, "winner" AS c12, "versions" AS c13, "family" AS c4 FROM "silver/events") WHERE ((c4 IN ('change')) AND (c5 IN ('conflict.arose')))))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c16, c17, c18, split_part(c17, ':', 1) AS c19, text_to_bigint(split_part(c17, ':', -1)) AS c20 FROM 
(SELECT c16, c17, c18 FROM 
(SELECT "trace" AS c16, "type" AS c15, "number" AS c17, "modified_at" AS c18, "family" AS c14 FROM "silver/events") WHERE ((c14 IN ('change')) AND (c15 IN ('change.made')))))) ON ((c6 = c16) AND (c3 = c17)))) GROUP BY c6, c7, c8, c9, c10, c11, c12)) GROUP BY c6))))) WHERE (c1 > (0)::BIGINT));

-- table rules/resolutions needs conflict.ended
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c4 AS "trace", c24 AS "check", c1 AS "consumed", c25 AS "violations", c26 AS "at", c27 AS "witness" FROM (SELECT * FROM 
(SELECT c4, (c2)."check" AS c24, (c2)."consumed" AS c1, (c2)."violations" AS c25, (c2)."at" AS c26, (c2)."witness" AS c27 FROM 
(SELECT c4, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'only contacts resolve conflicts', 'consumed': c21, 'violations': c22, 'at': (c23)."at", 'witness': (c23)."words"}]) AS uc2 FROM 
(SELECT c4, count(1) FILTER (WHERE c18) AS c21, count(1) FILTER (WHERE c19) AS c22, arg_min(CASE WHEN c19 THEN {'at': c17, 'words': c20} END, CASE WHEN c19 THEN {n0: c17 IS NOT NULL, v0: c17, n1: c20 IS NOT NULL, v1: c20} END) AS c23 FROM 
(SELECT c4, c6 AS c17, coalesce((c10 AND (c13 IS NOT NULL)), FALSE) AS c18, CASE WHEN coalesce((c10 AND (c13 IS NOT NULL)), FALSE) THEN (NOT coalesce(list_contains_or_null(c13, c9), FALSE)) ELSE FALSE END AS c19, CASE WHEN CASE WHEN coalesce((c10 AND (c13 IS NOT NULL)), FALSE) THEN (NOT coalesce(list_contains_or_null(c13, c9), FALSE)) ELSE FALSE END THEN (c9 || ' resolved the conflict of ' || ('object=' || c8) || ' on ' || c5 || ', but the contacts are: ' || list_text(c13, ', ')) END AS c20 FROM 
(SELECT c4, c5, c6, c8, c9, c10, c13 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT "trace" AS c4, "node" AS c5, "at" AS c6, "folder" AS c7, "what" AS c3, "object" AS c8, "by" AS c9, "untouched" AS c10 FROM "evidence/listed") WHERE (c3 = 'resolved')) LEFT JOIN 
(SELECT * FROM 
(SELECT c11, concat_ws(':', c15, (c12)::VARCHAR) AS c16, c13 FROM 
(SELECT c11, c12, c13, c15 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT "trace" AS c11, "n" AS c12, "contacts" AS c13 FROM "organization/genesis")) JOIN 
(SELECT * FROM 
(SELECT "trace" AS c14, "guid" AS c15 FROM "organization/setup")) ON (c11 = c14))))) ON ((c4 = c11) AND (c7 = c16))))) GROUP BY c4))))) WHERE (c1 > (0)::BIGINT));

-- table rules/resolving_changes needs conflict.ended
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c7 AS "trace", c36 AS "check", c1 AS "consumed", c37 AS "violations", c38 AS "at", c39 AS "witness" FROM (SELECT * FROM 
(SELECT c7, (c2)."check" AS c36, (c2)."consumed" AS c1, (c2)."violations" AS c37, (c2)."at" AS c38, (c2)."witness" AS c39 FROM 
(SELECT c7, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'a change that ends a conflict replaces its versions', 'consumed': c33, 'violations': c34, 'at': (c35)."at", 'witness': (c35)."words"}]) AS uc2 FROM 
(SELECT c7, count(1) FILTER (WHERE c30) AS c33, count(1) FILTER (WHERE c31) AS c34, arg_min(CASE WHEN c31 THEN {'at': c29, 'words': c32} END, CASE WHEN c31 THEN {n0: c29 IS NOT NULL, v0: c29, n1: c32 IS NOT NULL, v1: c32} END) AS c35 FROM 
(SELECT c7, c10 AS c29, coalesce(TRUE, FALSE) AS c30, CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce((coalesce(len(list_except(c28, c27))::INTEGER, -1) = 0), FALSE)) ELSE FALSE END AS c31, CASE WHEN CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce((coalesce(len(list_except(c28, c27))::INTEGER, -1) = 0), FALSE)) ELSE FALSE END THEN (c8 || ' ended the conflict of ' || ('object=' || c12) || ' by ' || c11 || ', which does not replace ' || list_text(list_except(c28, c27), ', ')) END AS c32 FROM 
(SELECT c7, c8, c10, c12, c11, arg_min(c13, list_transform(c13, lambda c13_item: {n: c13_item IS NOT NULL, v: c13_item})) AS c27, arg_max_null(c26, c3) AS c28 FROM 
(SELECT c7, c8, c12, c11, c4, c10, c13, c3, c26 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c7, c8, c11, c9, c4, c10, c12, c13 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c7, c8, c9, c4, c10, c12, c11, c13 FROM 
(SELECT c7, c8, c9, c4, c10, c12, c11, c13 FROM 
(SELECT "trace" AS c7, "node" AS c8, "type" AS c6, "incarnation" AS c9, "seq" AS c4, "at" AS c10, "number" AS c11, "object" AS c12, "supersedes" AS c13, "family" AS c5 FROM "silver/events") WHERE ((c5 IN ('change')) AND (c6 IN ('change.made')))))) SEMI JOIN 
(SELECT * FROM 
(SELECT DISTINCT c14, c15, c16 FROM 
(SELECT c14, c15, c16 FROM 
(SELECT c14, c15, c16 FROM 
(SELECT "trace" AS c14, "node" AS c15, "type" AS c18, "number" AS c16, "family" AS c17 FROM "silver/events") WHERE ((c17 IN ('change')) AND (c18 IN ('conflict.ended'))))))) ON (((c7 = c14) AND (c8 = c15)) AND (c11 = c16))))) JOIN 
(SELECT * FROM 
(SELECT c21, c22, c23, c25, c24 AS c3, c26 FROM 
(SELECT c21, c22, c23, c24, c25, c26 FROM 
(SELECT "trace" AS c21, "node" AS c22, "type" AS c20, "incarnation" AS c23, "seq" AS c24, "object" AS c25, "versions" AS c26, "family" AS c19 FROM "silver/events") WHERE ((c19 IN ('change')) AND (c20 IN ('conflict.arose')))))) ON ((((c7 = c21) AND (c8 = c22)) AND (c9 = c23)) AND (c12 = c25)))) WHERE (c3 < c4) GROUP BY c7, c8, c4, c10, c12, c11)) GROUP BY c7))))) WHERE (c1 > (0)::BIGINT));

-- table rules/aged_conflicts needs conflict.aged
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c4 AS "trace", c50 AS "check", c1 AS "consumed", c51 AS "violations", c52 AS "at", c53 AS "witness" FROM (SELECT * FROM 
(SELECT c4, (c2)."check" AS c50, (c2)."consumed" AS c1, (c2)."violations" AS c51, (c2)."at" AS c52, (c2)."witness" AS c53 FROM 
(SELECT c4, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'old conflicts end at home', 'consumed': c44, 'violations': c45, 'at': (c46)."at", 'witness': (c46)."words"}, {'check': 'old conflicts end at the age limit', 'consumed': c47, 'violations': c48, 'at': (c49)."at", 'witness': (c49)."words"}]) AS uc2 FROM 
(SELECT c4, count(1) FILTER (WHERE c38) AS c44, count(1) FILTER (WHERE c39) AS c45, arg_min(CASE WHEN c39 THEN {'at': c37, 'words': c40} END, CASE WHEN c39 THEN {n0: c37 IS NOT NULL, v0: c37, n1: c40 IS NOT NULL, v1: c40} END) AS c46, count(1) FILTER (WHERE c41) AS c47, count(1) FILTER (WHERE c42) AS c48, arg_min(CASE WHEN c42 THEN {'at': c37, 'words': c43} END, CASE WHEN c42 THEN {n0: c37 IS NOT NULL, v0: c37, n1: c43 IS NOT NULL, v1: c43} END) AS c49 FROM 
(SELECT c4, c7 AS c37, coalesce(TRUE, FALSE) AS c38, CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce((list_item(c13, 0) = c5), FALSE)) ELSE FALSE END AS c39, CASE WHEN CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce((list_item(c13, 0) = c5), FALSE)) ELSE FALSE END THEN (c5 || ' ended the conflict of ' || ('object=' || c8) || ' because of its age, but the home store is ' || list_item(c13, 0)) END AS c40, coalesce(TRUE, FALSE) AS c41, CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce(coalesce((((c11 = c35) AND (subtract_wrapped(c7, c35) >= c12)) AND (c10 = c36)), FALSE), FALSE)) ELSE FALSE END AS c42, CASE WHEN CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce(coalesce((((c11 = c35) AND (subtract_wrapped(c7, c35) >= c12)) AND (c10 = c36)), FALSE), FALSE)) ELSE FALSE END THEN (c5 || ' ended the conflict of ' || ('object=' || c8) || ' by ' || c9 || ' too early, or did not keep the winner') END AS c43 FROM 
(SELECT c4, c5, c8, c7, c9, c10, c11, c12, c13, c35, c36 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT "trace" AS c4, "node" AS c5, "seq" AS c6, "at" AS c7, "what" AS c3, "object" AS c8, "number" AS c9, "winner" AS c10, "since_at" AS c11, "limit_us" AS c12, "holders" AS c13 FROM "evidence/listed") WHERE (c3 = 'aged')) LEFT JOIN 
(SELECT * FROM 
(SELECT c16, c17, c19, c18, c35, c36 FROM 
(SELECT c16, c17, c19, c18, c35, c36 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c16, c17, c18, c19, subtract_wrapped(c22, (1)::BIGINT) AS c23 FROM 
(SELECT c16, c17, c18, c19, c14, c22 FROM 
(SELECT c16, c17, c18, c19, c14, coalesce(c21, (0)::BIGINT) AS c22 FROM 
(SELECT *, wrapped(sum(c20) OVER (PARTITION BY c16, c17, c19 ORDER BY c18 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) AS c21 FROM 
(SELECT c16, c17, c18, c19, c14, c20 FROM 
(SELECT c16, c17, c18, c19, c14, ((c14 IN ('conflict.ended', 'tombstone.made', 'item.expired')))::INTEGER AS c20 FROM 
(SELECT c16, c14, c17, c18, c19 FROM 
(SELECT "trace" AS c16, "node" AS c17, "type" AS c14, "seq" AS c18, "object" AS c19, "family" AS c15 FROM "silver/events") WHERE ((c15 IN ('change')) AND (c14 IN ('conflict.arose', 'conflict.aged', 'conflict.ended', 'tombstone.made', 'item.expired'))))))))) WHERE (c14 = 'conflict.aged'))) JOIN 
(SELECT * FROM 
(SELECT c26, c27, c30, c34, min(c29) AS c35, arg_max_null(c31, c28) AS c36 FROM 
(SELECT c26, c27, c28, c29, c30, c24, c31, c34 FROM 
(SELECT c26, c27, c28, c29, c30, c24, c31, coalesce(c33, (0)::BIGINT) AS c34 FROM 
(SELECT *, wrapped(sum(c32) OVER (PARTITION BY c26, c27, c30 ORDER BY c28 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) AS c33 FROM 
(SELECT c26, c27, c28, c29, c30, c24, c31, c32 FROM 
(SELECT c26, c27, c28, c29, c30, c24, c31, ((c24 IN ('conflict.ended', 'tombstone.made', 'item.expired')))::INTEGER AS c32 FROM 
(SELECT c26, c24, c27, c28, c29, c30, c31 FROM 
(SELECT "trace" AS c26, "node" AS c27, "type" AS c24, "seq" AS c28, "at" AS c29, "object" AS c30, "winner" AS c31, "family" AS c25 FROM "silver/events") WHERE ((c25 IN ('change')) AND (c24 IN ('conflict.arose', 'conflict.aged', 'conflict.ended', 'tombstone.made', 'item.expired'))))))))) WHERE (c24 = 'conflict.arose') GROUP BY c26, c27, c30, c34)) ON ((((c16 = c26) AND (c17 = c27)) AND (c19 = c30)) AND (c23 = c34)))))) ON ((((c4 = c16) AND (c5 = c17)) AND (c8 = c19)) AND (c6 = c18))))) GROUP BY c4))))) WHERE (c1 > (0)::BIGINT));

-- table rules/shown_folders needs folder.moved,folder.shown
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c7 AS "trace", c78 AS "check", c1 AS "consumed", c79 AS "violations", c80 AS "at", c81 AS "witness" FROM (SELECT * FROM 
(SELECT c7, (c2)."check" AS c78, (c2)."consumed" AS c1, (c2)."violations" AS c79, (c2)."at" AS c80, (c2)."witness" AS c81 FROM 
(SELECT c7, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'folders are shown under their names', 'consumed': c75, 'violations': c76, 'at': (c77)."at", 'witness': (c77)."words"}]) AS uc2 FROM 
(SELECT c7, count(1) FILTER (WHERE c72) AS c75, count(1) FILTER (WHERE c73) AS c76, arg_min(CASE WHEN c73 THEN {'at': c71, 'words': c74} END, CASE WHEN c73 THEN {n0: c71 IS NOT NULL, v0: c71, n1: c74 IS NOT NULL, v1: c74} END) AS c77 FROM 
(SELECT c7, c9 AS c71, coalesce(TRUE, FALSE) AS c72, CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce((((list_extract(str_split(c11, '/'), (-1)) = c39) OR ((c68 > (0)::BIGINT) AND starts_with(list_extract(str_split(c11, '/'), (-1)), c39))) AND ((NOT (c40 = '1-1')) OR (NOT (c11 LIKE '%/%' ESCAPE '\')))), FALSE)) ELSE FALSE END AS c73, CASE WHEN CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce((((list_extract(str_split(c11, '/'), (-1)) = c39) OR ((c68 > (0)::BIGINT) AND starts_with(list_extract(str_split(c11, '/'), (-1)), c39))) AND ((NOT (c40 = '1-1')) OR (NOT (c11 LIKE '%/%' ESCAPE '\')))), FALSE)) ELSE FALSE END THEN (c8 || ' shows ' || c39 || ' as ' || c11) END AS c74 FROM 
(SELECT c7, c8, c9, c11, c39, c40, c68 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c7, c8, c9, c11, c39, c40, count(1) FILTER (WHERE ((NOT (c45 = c10)) AND (c49 < c4))) AS c68 FROM 
(SELECT c7, c8, c39, c40, c4, c9, c10, c11, c49, c45 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c7, c8, c4, c9, c10, c11, (c38)."subject" AS c39, (c38)."parent" AS c40 FROM 
(SELECT c7, c8, c4, c9, c10, c11, arg_max_null({'subject': c35, 'parent': c36}, c3) AS c38 FROM 
(SELECT c7, c8, c10, c4, c9, c11, c3, c35, c36 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c7, c8, c4, c9, c10, c11 FROM 
(SELECT c7, c8, c4, c9, c10, c11 FROM 
(SELECT "trace" AS c7, "node" AS c8, "type" AS c6, "seq" AS c4, "at" AS c9, "folder" AS c10, "path" AS c11, "family" AS c5 FROM "silver/events") WHERE ((c5 IN ('replication')) AND (c6 IN ('folder.shown', 'folder.moved')))))) JOIN 
(SELECT * FROM 
(SELECT c14, c19, c16 AS c37, c3, c35, c36 FROM 
(SELECT c14, c19, c16, c3, c35, c36 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c14, c19, c16, c18, c3 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c14, c15 AS c19, c16, c18, c17 AS c3 FROM 
(SELECT "trace" AS c14, "store" AS c15, "folder" AS c12, "object" AS c16, "act" AS c13, "seq" AS c17, "number" AS c18 FROM "evidence/versions") WHERE ((c12 = '1-1') AND (c13 IN ('made', 'applied'))))) SEMI JOIN 
(SELECT * FROM 
(SELECT DISTINCT c20, c21 FROM 
(SELECT c20, c21 FROM 
(SELECT c20, c21 FROM 
(SELECT c20, c21 FROM 
(SELECT "trace" AS c20, "node" AS c21, "type" AS c23, "family" AS c22 FROM "silver/events") WHERE ((c22 IN ('replication')) AND (c23 IN ('folder.shown', 'folder.moved')))))))) ON ((c14 = c20) AND (c19 = c21))))) JOIN 
(SELECT * FROM 
(SELECT c27, c31, (c34)."subject" AS c35, (c34)."parent" AS c36 FROM 
(SELECT c27, c31, arg_min_null({'subject': c32, 'parent': c33}, {n0: c30 IS NOT NULL, v0: c30, n1: c28 IS NOT NULL, v1: c28, n2: c29 IS NOT NULL, v2: c29}) AS c34 FROM 
(SELECT "trace" AS c27, "store" AS c28, "folder" AS c24, "act" AS c25, "seq" AS c29, "at" AS c30, "number" AS c31, "deleted" AS c26, "subject" AS c32, "parent" AS c33 FROM "evidence/versions") WHERE ((c24 = '1-1') AND (c25 IN ('made', 'applied'))) AND ((c25 = 'made') AND (NOT c26)) GROUP BY c27, c31))) ON ((c14 = c27) AND (c18 = c31)))))) ON (((c7 = c14) AND (c8 = c19)) AND (c10 = c37)))) WHERE (c3 < c4) GROUP BY c7, c8, c4, c9, c10, c11))) LEFT JOIN 
(SELECT * FROM 
(SELECT c43, c48, c49, c45, c65 AS c67, c66 FROM 
(SELECT c43, c48, c45, c49, c65, c66 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c43, c48, c45, c47, c49 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c43, c44 AS c48, c45, c47, c46 AS c49 FROM 
(SELECT "trace" AS c43, "store" AS c44, "folder" AS c41, "object" AS c45, "act" AS c42, "seq" AS c46, "number" AS c47 FROM "evidence/versions") WHERE ((c41 = '1-1') AND (c42 IN ('made', 'applied'))))) SEMI JOIN 
(SELECT * FROM 
(SELECT DISTINCT c50, c51 FROM 
(SELECT c50, c51 FROM 
(SELECT c50, c51 FROM 
(SELECT c50, c51 FROM 
(SELECT "trace" AS c50, "node" AS c51, "type" AS c53, "family" AS c52 FROM "silver/events") WHERE ((c52 IN ('replication')) AND (c53 IN ('folder.shown', 'folder.moved')))))))) ON ((c43 = c50) AND (c48 = c51))))) JOIN 
(SELECT * FROM 
(SELECT c57, c61, (c64)."subject" AS c65, (c64)."parent" AS c66 FROM 
(SELECT c57, c61, arg_min_null({'subject': c62, 'parent': c63}, {n0: c60 IS NOT NULL, v0: c60, n1: c58 IS NOT NULL, v1: c58, n2: c59 IS NOT NULL, v2: c59}) AS c64 FROM 
(SELECT "trace" AS c57, "store" AS c58, "folder" AS c54, "act" AS c55, "seq" AS c59, "at" AS c60, "number" AS c61, "deleted" AS c56, "subject" AS c62, "parent" AS c63 FROM "evidence/versions") WHERE ((c54 = '1-1') AND (c55 IN ('made', 'applied'))) AND ((c55 = 'made') AND (NOT c56)) GROUP BY c57, c61))) ON ((c43 = c57) AND (c47 = c61)))))) ON ((((c7 = c43) AND (c8 = c48)) AND (c39 = c67)) AND (c40 = c66)))) GROUP BY c7, c8, c4, c9, c10, c11, c39, c40)) ANTI JOIN 
(SELECT * FROM 
(SELECT "trace" AS c69, "node" AS c70 FROM "evidence/restored")) ON ((c7 = c69) AND (c8 = c70))))) GROUP BY c7))))) WHERE (c1 > (0)::BIGINT));

-- table rules/sent needs mail.submitted
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c5 AS "trace", c133 AS "check", c1 AS "consumed", c134 AS "violations", c135 AS "at", c136 AS "witness" FROM (SELECT * FROM 
(SELECT c5, (c2)."check" AS c133, (c2)."consumed" AS c1, (c2)."violations" AS c134, (c2)."at" AS c135, (c2)."witness" AS c136 FROM 
(SELECT c5, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'hierarchy and content are not mixed', 'consumed': c106, 'violations': c107, 'at': (c108)."at", 'witness': (c108)."words"}, {'check': 'hierarchy is broadcast on schedule', 'consumed': c109, 'violations': c110, 'at': (c111)."at", 'witness': (c111)."words"}, {'check': 'mails name what the sender has', 'consumed': c112, 'violations': c113, 'at': (c114)."at", 'witness': (c114)."words"}, {'check': 'suspended content is not sent', 'consumed': c115, 'violations': c116, 'at': (c117)."at", 'witness': (c117)."words"}, {'check': 'big items are sent alone', 'consumed': c118, 'violations': c119, 'at': (c120)."at", 'witness': (c120)."words"}, {'check': 'only missing changes are requested', 'consumed': c121, 'violations': c122, 'at': (c123)."at", 'witness': (c123)."words"}, {'check': 'requests and responses have one recipient', 'consumed': c124, 'violations': c125, 'at': (c126)."at", 'witness': (c126)."words"}, {'check': 'mails go only to stamped addresses', 'consumed': c127, 'violations': c128, 'at': (c129)."at", 'witness': (c129)."words"}, {'check': 'deleted stores get no mail', 'consumed': c130, 'violations': c131, 'at': (c132)."at", 'witness': (c132)."words"}]) AS uc2 FROM 
(SELECT c5, count(1) FILTER (WHERE c47) AS c106, count(1) FILTER (WHERE c48) AS c107, arg_min(CASE WHEN c48 THEN {'at': c46, 'words': c50} END, CASE WHEN c48 THEN {n0: c46 IS NOT NULL, v0: c46, n1: c50 IS NOT NULL, v1: c50} END) AS c108, count(1) FILTER (WHERE c52) AS c109, count(1) FILTER (WHERE c53) AS c110, arg_min(CASE WHEN c53 THEN {'at': c46, 'words': c54} END, CASE WHEN c53 THEN {n0: c46 IS NOT NULL, v0: c46, n1: c54 IS NOT NULL, v1: c54} END) AS c111, count(1) FILTER (WHERE c55) AS c112, count(1) FILTER (WHERE c56) AS c113, arg_min(CASE WHEN c56 THEN {'at': c46, 'words': c60} END, CASE WHEN c56 THEN {n0: c46 IS NOT NULL, v0: c46, n1: c60 IS NOT NULL, v1: c60} END) AS c114, count(1) FILTER (WHERE c64) AS c115, count(1) FILTER (WHERE c66) AS c116, arg_min(CASE WHEN c66 THEN {'at': c46, 'words': c69} END, CASE WHEN c66 THEN {n0: c46 IS NOT NULL, v0: c46, n1: c69 IS NOT NULL, v1: c69} END) AS c117, count(1) FILTER (WHERE c72) AS c118, count(1) FILTER (WHERE c73) AS c119, arg_min(CASE WHEN c73 THEN {'at': c46, 'words': c74} END, CASE WHEN c73 THEN {n0: c46 IS NOT NULL, v0: c46, n1: c74 IS NOT NULL, v1: c74} END) AS c120, count(1) FILTER (WHERE c75) AS c121, count(1) FILTER (WHERE c76) AS c122, arg_min(CASE WHEN c76 THEN {'at': c46, 'words': c80} END, CASE WHEN c76 THEN {n0: c46 IS NOT NULL, v0: c46, n1: c80 IS NOT NULL, v1: c80} END) AS c123, count(1) FILTER (WHERE c84) AS c124, count(1) FILTER (WHERE c85) AS c125, arg_min(CASE WHEN c85 THEN {'at': c46, 'words': c86} END, CASE WHEN c85 THEN {n0: c46 IS NOT NULL, v0: c46, n1: c86 IS NOT NULL, v1: c86} END) AS c126, count(1) FILTER (WHERE c87) AS c127, count(1) FILTER (WHERE c88) AS c128, arg_min(CASE WHEN c88 THEN {'at': c46, 'words': c93} END, CASE WHEN c88 THEN {n0: c46 IS NOT NULL, v0: c46, n1: c93 IS NOT NULL, v1: c93} END) AS c129, count(1) FILTER (WHERE c98) AS c130, count(1) FILTER (WHERE c100) AS c131, arg_min(CASE WHEN c100 THEN {'at': c46, 'words': c103} END, CASE WHEN c100 THEN {n0: c46 IS NOT NULL, v0: c46, n1: c103 IS NOT NULL, v1: c103} END) AS c132 FROM 
(SELECT c5, c9 AS c46, coalesce(TRUE, FALSE) AS c47, CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce(CASE WHEN (c12 IN ((2)::BIGINT, (4)::BIGINT, 2147483650::BIGINT, 2147483652::BIGINT)) THEN ((coalesce(len(c17)::INTEGER, -1) = 1) AND (((list_item(c17, 0))."folder" = '1-1') = (c12 IN ((2)::BIGINT, 2147483650::BIGINT)))) WHEN (c12 IN ((8)::BIGINT, (16)::BIGINT, (32)::BIGINT)) THEN list_all(list_transform(c17, lambda v49: ((v49)."updates" = (0)::BIGINT))) ELSE FALSE END, FALSE)) ELSE FALSE END AS c48, CASE WHEN CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce(CASE WHEN (c12 IN ((2)::BIGINT, (4)::BIGINT, 2147483650::BIGINT, 2147483652::BIGINT)) THEN ((coalesce(len(c17)::INTEGER, -1) = 1) AND (((list_item(c17, 0))."folder" = '1-1') = (c12 IN ((2)::BIGINT, 2147483650::BIGINT)))) WHEN (c12 IN ((8)::BIGINT, (16)::BIGINT, (32)::BIGINT)) THEN list_all(list_transform(c17, lambda v51: ((v51)."updates" = (0)::BIGINT))) ELSE FALSE END, FALSE)) ELSE FALSE END THEN (c6 || ' put ' || (coalesce(len(c17)::INTEGER, -1))::VARCHAR || ' folders into <' || c10 || '> of type ' || (c12)::VARCHAR) END AS c50, coalesce((((c12 = (2)::BIGINT) AND (NOT list_contains_or_null(coalesce(c15, CAST([] AS VARCHAR[])), 'resent'))) AND (c35 AND c39)), FALSE) AS c52, CASE WHEN coalesce((((c12 = (2)::BIGINT) AND (NOT list_contains_or_null(coalesce(c15, CAST([] AS VARCHAR[])), 'resent'))) AND (c35 AND c39)), FALSE) THEN (NOT coalesce(((remainder_or_null(c9, (900000000)::BIGINT) = (0)::BIGINT) OR (c9 = c31)), FALSE)) ELSE FALSE END AS c53, CASE WHEN CASE WHEN coalesce((((c12 = (2)::BIGINT) AND (NOT list_contains_or_null(coalesce(c15, CAST([] AS VARCHAR[])), 'resent'))) AND (c35 AND c39)), FALSE) THEN (NOT coalesce(((remainder_or_null(c9, (900000000)::BIGINT) = (0)::BIGINT) OR (c9 = c31)), FALSE)) ELSE FALSE END THEN (c6 || ' broadcast the hierarchy outside the cycle in <' || c10 || '>') END AS c54, coalesce((c12 IN ((2)::BIGINT, (4)::BIGINT, 2147483650::BIGINT, 2147483652::BIGINT)), FALSE) AS c55, CASE WHEN coalesce((c12 IN ((2)::BIGINT, (4)::BIGINT, 2147483650::BIGINT, 2147483652::BIGINT)), FALSE) THEN (NOT coalesce(list_all(list_transform(c17, lambda v57: list_all(list_transform((v57)."numbers", lambda v58: list_any(list_transform((v57)."row", lambda v59: ((((v59)."guid" = (v58)."guid") AND ((v59)."low" <= (v58)."low")) AND ((v58)."high" <= (v59)."high")))))))), FALSE)) ELSE FALSE END AS c56, CASE WHEN CASE WHEN coalesce((c12 IN ((2)::BIGINT, (4)::BIGINT, 2147483650::BIGINT, 2147483652::BIGINT)), FALSE) THEN (NOT coalesce(list_all(list_transform(c17, lambda v61: list_all(list_transform((v61)."numbers", lambda v62: list_any(list_transform((v61)."row", lambda v63: ((((v63)."guid" = (v62)."guid") AND ((v63)."low" <= (v62)."low")) AND ((v62)."high" <= (v63)."high")))))))), FALSE)) ELSE FALSE END THEN (c6 || ' named in <' || c10 || '> numbers that its own row does not have') END AS c60, coalesce(((c43 IS NOT NULL) AND coalesce(((c45 IN ('2003', '2007')) AND (list_extract(list_filter(c44, lambda v65: ((v65)."seq" < c8)), (-1)))."on"), FALSE)), FALSE) AS c64, CASE WHEN coalesce(((c43 IS NOT NULL) AND coalesce(((c45 IN ('2003', '2007')) AND (list_extract(list_filter(c44, lambda v67: ((v67)."seq" < c8)), (-1)))."on"), FALSE)), FALSE) THEN (NOT coalesce((NOT ((c12 IN ((4)::BIGINT, 2147483652::BIGINT)) OR ((c12 = (8)::BIGINT) AND list_any(list_transform(c17, lambda v68: (NOT ((v68)."folder" = '1-1'))))))), FALSE)) ELSE FALSE END AS c66, CASE WHEN CASE WHEN coalesce(((c43 IS NOT NULL) AND coalesce(((c45 IN ('2003', '2007')) AND (list_extract(list_filter(c44, lambda v70: ((v70)."seq" < c8)), (-1)))."on"), FALSE)), FALSE) THEN (NOT coalesce((NOT ((c12 IN ((4)::BIGINT, 2147483652::BIGINT)) OR ((c12 = (8)::BIGINT) AND list_any(list_transform(c17, lambda v71: (NOT ((v71)."folder" = '1-1'))))))), FALSE)) ELSE FALSE END THEN (c6 || ' sent <' || c10 || '> of type ' || (c12)::VARCHAR || ' while content was suspended') END AS c69, coalesce(((c35 AND (c12 IN ((4)::BIGINT, 2147483652::BIGINT))) AND ((list_item(c17, 0))."updates" > (1)::BIGINT)), FALSE) AS c72, CASE WHEN coalesce(((c35 AND (c12 IN ((4)::BIGINT, 2147483652::BIGINT))) AND ((list_item(c17, 0))."updates" > (1)::BIGINT)), FALSE) THEN (NOT coalesce((c14 <= add_wrapped((460800)::BIGINT, multiply_wrapped((1024)::BIGINT, (list_item(c17, 0))."updates"))), FALSE)) ELSE FALSE END AS c73, CASE WHEN CASE WHEN coalesce(((c35 AND (c12 IN ((4)::BIGINT, 2147483652::BIGINT))) AND ((list_item(c17, 0))."updates" > (1)::BIGINT)), FALSE) THEN (NOT coalesce((c14 <= add_wrapped((460800)::BIGINT, multiply_wrapped((1024)::BIGINT, (list_item(c17, 0))."updates"))), FALSE)) ELSE FALSE END THEN (c6 || ' put ' || ((list_item(c17, 0))."updates")::VARCHAR || ' messages into <' || c10 || '> of ' || (c14)::VARCHAR || ' bytes') END AS c74, coalesce((c12 = (8)::BIGINT), FALSE) AS c75, CASE WHEN coalesce((c12 = (8)::BIGINT), FALSE) THEN (NOT coalesce(list_all(list_transform(c17, lambda v77: list_all(list_transform((v77)."numbers", lambda v78: (NOT list_any(list_transform((v77)."row", lambda v79: ((((v79)."guid" = (v78)."guid") AND ((v79)."low" <= (v78)."high")) AND ((v78)."low" <= (v79)."high"))))))))), FALSE)) ELSE FALSE END AS c76, CASE WHEN CASE WHEN coalesce((c12 = (8)::BIGINT), FALSE) THEN (NOT coalesce(list_all(list_transform(c17, lambda v81: list_all(list_transform((v81)."numbers", lambda v82: (NOT list_any(list_transform((v81)."row", lambda v83: ((((v83)."guid" = (v82)."guid") AND ((v83)."low" <= (v82)."high")) AND ((v82)."low" <= (v83)."high"))))))))), FALSE)) ELSE FALSE END THEN (c6 || ' requested in <' || c10 || '> what its own row has') END AS c80, coalesce((c12 IN ((8)::BIGINT, 2147483650::BIGINT, 2147483652::BIGINT)), FALSE) AS c84, CASE WHEN coalesce((c12 IN ((8)::BIGINT, 2147483650::BIGINT, 2147483652::BIGINT)), FALSE) THEN (NOT coalesce((coalesce(len(c11)::INTEGER, -1) = 1), FALSE)) ELSE FALSE END AS c85, CASE WHEN CASE WHEN coalesce((c12 IN ((8)::BIGINT, 2147483650::BIGINT, 2147483652::BIGINT)), FALSE) THEN (NOT coalesce((coalesce(len(c11)::INTEGER, -1) = 1), FALSE)) ELSE FALSE END THEN (c6 || ' sent <' || c10 || '> to ' || (coalesce(len(c11)::INTEGER, -1))::VARCHAR || ' recipients') END AS c86, coalesce((c43 IS NOT NULL), FALSE) AS c87, CASE WHEN coalesce((c43 IS NOT NULL), FALSE) THEN (NOT coalesce((list_all(list_transform(c11, lambda v89: coalesce(((list_extract(list_filter((map_extract_value(c43, v89))."stamps", lambda v90: ((v90)."seq" < c8)), (-1)))."address" = v89), FALSE))) AND list_any(list_transform(map_values(c43), lambda v91: (((v91)."store" = c6) AND ((list_extract(list_filter((v91)."stamps", lambda v92: ((v92)."seq" < c8)), (-1)))."address" IS NOT NULL))))), FALSE)) ELSE FALSE END AS c88, CASE WHEN CASE WHEN coalesce((c43 IS NOT NULL), FALSE) THEN (NOT coalesce((list_all(list_transform(c11, lambda v94: coalesce(((list_extract(list_filter((map_extract_value(c43, v94))."stamps", lambda v95: ((v95)."seq" < c8)), (-1)))."address" = v94), FALSE))) AND list_any(list_transform(map_values(c43), lambda v96: (((v96)."store" = c6) AND ((list_extract(list_filter((v96)."stamps", lambda v97: ((v97)."seq" < c8)), (-1)))."address" IS NOT NULL))))), FALSE)) ELSE FALSE END THEN (c6 || ' sent <' || c10 || '> to or from a store whose entry in the directory had no such address') END AS c93, coalesce(((c43 IS NOT NULL) AND list_any(list_transform(map_values(c43), lambda v99: coalesce(((v99)."deleted" < c8), FALSE)))), FALSE) AS c98, CASE WHEN coalesce(((c43 IS NOT NULL) AND list_any(list_transform(map_values(c43), lambda v101: coalesce(((v101)."deleted" < c8), FALSE)))), FALSE) THEN (NOT coalesce((NOT list_any(list_transform(c11, lambda v102: coalesce((((map_extract_value(c43, v102))."deleted" >= (map_extract_value(c43, v102))."last") AND ((map_extract_value(c43, v102))."deleted" <= c8)), FALSE)))), FALSE)) ELSE FALSE END AS c100, CASE WHEN CASE WHEN coalesce(((c43 IS NOT NULL) AND list_any(list_transform(map_values(c43), lambda v104: coalesce(((v104)."deleted" < c8), FALSE)))), FALSE) THEN (NOT coalesce((NOT list_any(list_transform(c11, lambda v105: coalesce((((map_extract_value(c43, v105))."deleted" >= (map_extract_value(c43, v105))."last") AND ((map_extract_value(c43, v105))."deleted" <= c8)), FALSE)))), FALSE)) ELSE FALSE END THEN (c6 || ' sent <' || c10 || '> to a store that was deleted') END AS c103 FROM 
(SELECT c5, c6, c8, c9, c10, c12, c11, c14, c15, c17, c31, c35, c39, c43, c44, c45 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c5, c6, c8, c9, c10, c12, c11, c14, c15, c17, c31, c35, c39 FROM 
(SELECT c5, c6, c8, c9, c10, c12, c11, c14, c15, c17, c31, c35, (NOT list_any(list_transform(coalesce(c38, CAST([] AS STRUCT("since" BIGINT, "until" BIGINT)[])), lambda v40: ((c9 >= (v40)."since") AND (c9 <= (v40)."until"))))) AS c39 FROM 
(SELECT c5, c6, c8, c9, c10, c12, c11, c14, c15, c17, c31, c35, c38 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c5, c6, c8, c9, c10, c12, c11, c14, c15, c17, c31, coalesce(c34, FALSE) AS c35 FROM 
(SELECT c5, c6, c8, c9, c10, c12, c11, c14, c15, c17, c31, c34 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c5, c6, c8, c9, c10, c12, c11, c14, c15, c17, c31 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c5, c6, c7, c8, c9, c10, c12, c11, c14, c15, list_transform(c16, lambda v18: {'folder': (v18)."folder", 'updates': (v18)."updates", 'numbers': list_flattened(list_transform(list_filter(str_split((v18)."cnset", ';'), lambda v20: (NOT (v20 = ''))), lambda v19: list_transform(str_split(split_part(v19, ':', 2), ','), lambda v21: {'guid': CASE WHEN ('message' = 'fai') THEN (split_part(v19, ':', 1) || ' fai') ELSE split_part(v19, ':', 1) END, 'low': text_to_bigint(split_part(v21, '-', 1)), 'high': text_to_bigint(split_part(v21, '-', (-1)))}))), 'row': list_flattened(list_transform(list_filter(str_split((v18)."row", ';'), lambda v23: (NOT (v23 = ''))), lambda v22: list_transform(str_split(split_part(v22, ':', 2), ','), lambda v24: {'guid': CASE WHEN ('message' = 'fai') THEN (split_part(v22, ':', 1) || ' fai') ELSE split_part(v22, ':', 1) END, 'low': text_to_bigint(split_part(v24, '-', 1)), 'high': text_to_bigint(split_part(v24, '-', (-1)))})))}) AS c17 FROM 
(SELECT c5, c6, c7, c8, c9, c10, c12, list_from_json(c13, '"STRUCT(\"folder\" VARCHAR, \"cnset\" VARCHAR, \"cnset_fai\" VARCHAR, \"row\" VARCHAR, \"row_fai\" VARCHAR, \"updates\" BIGINT, \"expired\" VARCHAR, \"expired_fai\" VARCHAR)[]"') AS c16, c11, c14, c15 FROM 
(SELECT "trace" AS c5, "node" AS c6, "type" AS c4, "incarnation" AS c7, "seq" AS c8, "at" AS c9, "mail" AS c10, "recipients" AS c11, "message_type" AS c12, "folders" AS c13, "size" AS c14, "marks" AS c15, "family" AS c3 FROM "silver/events") WHERE ((c3 IN ('mail')) AND (c4 IN ('mail.submitted')))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c27, c28, c29, max(c30) AS c31 FROM 
(SELECT c27, c28, c29, c30 FROM 
(SELECT "trace" AS c27, "node" AS c28, "type" AS c26, "incarnation" AS c29, "at" AS c30, "family" AS c25 FROM "silver/events") WHERE ((c25 IN ('run')) AND (c26 IN ('node.started')))) GROUP BY c27, c28, c29)) ON (((c5 = c27) AND (c6 = c28)) AND (c7 = c29))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c32, c33, TRUE AS c34 FROM 
(SELECT "trace" AS c32, "node" AS c33 FROM "evidence/plain"))) ON ((c5 = c32) AND (c6 = c33)))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c36, c37, c38 FROM 
(SELECT "trace" AS c36, "node" AS c37, "hindered" AS c38 FROM "evidence/nodes"))) ON ((c5 = c36) AND (c6 = c37))))))) LEFT JOIN 
(SELECT * FROM 
(SELECT "trace" AS c41, "node" AS c42, "directory" AS c43, "switches" AS c44, "version" AS c45 FROM "evidence/node_states")) ON ((c5 = c41) AND (c6 = c42))))) GROUP BY c5))))) WHERE (c1 > (0)::BIGINT));

-- table rules/presence needs change.made,version.applied
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c6 AS "trace", c39 AS "check", c1 AS "consumed", c40 AS "violations", c41 AS "at", c42 AS "witness" FROM (SELECT * FROM 
(SELECT c6, (c2)."check" AS c39, (c2)."consumed" AS c1, (c2)."violations" AS c40, (c2)."at" AS c41, (c2)."witness" AS c42 FROM 
(SELECT c6, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'content is only on holders', 'consumed': c36, 'violations': c37, 'at': (c38)."at", 'witness': (c38)."words"}]) AS uc2 FROM 
(SELECT c6, count(1) FILTER (WHERE c33) AS c36, count(1) FILTER (WHERE c34) AS c37, arg_min(CASE WHEN c34 THEN {'at': c32, 'words': c35} END, CASE WHEN c34 THEN {n0: c32 IS NOT NULL, v0: c32, n1: c35 IS NOT NULL, v1: c35} END) AS c38 FROM 
(SELECT c6, c11 AS c32, coalesce(TRUE, FALSE) AS c33, CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce((c29 <= c10), FALSE)) ELSE FALSE END AS c34, CASE WHEN CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce((c29 <= c10), FALSE)) ELSE FALSE END THEN (c9 || ' has content of ' || ('folder=' || c3) || ', but no replica list that it knew had named it') END AS c35 FROM 
(SELECT c6, c9, c3, c10, c11, c29 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c6, c9, c3, c10, c11, c29 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c6, c9, c3, min(c4) AS c10, min(c8) AS c11 FROM 
(SELECT c6, c7 AS c9, c3, c4, c8 FROM 
(SELECT "trace" AS c6, "store" AS c7, "folder" AS c3, "act" AS c5, "seq" AS c4, "at" AS c8 FROM "evidence/versions") WHERE ((c4 > (0)::BIGINT) AND (c5 IN ('made', 'applied')))) WHERE (NOT (c3 = '1-1')) GROUP BY c6, c9, c3)) LEFT JOIN 
(SELECT * FROM 
(SELECT c14, c19, c20, min(c21) AS c29 FROM 
(SELECT c14, c19, c20, c21 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c14, c15 AS c19, c16 AS c20, c18, c17 AS c21 FROM 
(SELECT "trace" AS c14, "store" AS c15, "folder" AS c12, "object" AS c16, "act" AS c13, "seq" AS c17, "number" AS c18 FROM "evidence/versions") WHERE ((c12 = '1-1') AND (c13 IN ('made', 'applied'))))) JOIN 
(SELECT * FROM 
(SELECT DISTINCT c22, c23, c24 FROM 
(SELECT c22, c23, c24 FROM 
(SELECT * EXCLUDE (uc24), uc24 AS c24 FROM (SELECT *, unnest(c28) AS uc24 FROM 
(SELECT "trace" AS c22, "folder" AS c25, "act" AS c26, "number" AS c23, "deleted" AS c27, "replicas" AS c28 FROM "evidence/versions") WHERE ((c25 = '1-1') AND (c26 IN ('made', 'applied'))) AND ((c26 = 'made') AND (NOT c27))))))) ON (((c14 = c22) AND (c19 = c24)) AND (c18 = c23)))) GROUP BY c14, c19, c20)) ON (((c6 = c14) AND (c9 = c19)) AND (c3 = c20))))) ANTI JOIN 
(SELECT * FROM 
(SELECT "trace" AS c30, "node" AS c31 FROM "evidence/restored")) ON ((c6 = c30) AND (c9 = c31))))) GROUP BY c6))))) WHERE (c1 > (0)::BIGINT));

-- table rules/expected_statuses needs replica.added,status.due
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c7 AS "trace", c93 AS "check", c1 AS "consumed", c94 AS "violations", c95 AS "at", c96 AS "witness" FROM (SELECT * FROM 
(SELECT c7, (c2)."check" AS c93, (c2)."consumed" AS c1, (c2)."violations" AS c94, (c2)."at" AS c95, (c2)."witness" AS c96 FROM 
(SELECT c7, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'a new replica asks for statuses', 'consumed': c87, 'violations': c88, 'at': (c89)."at", 'witness': (c89)."words"}, {'check': 'due statuses are sent', 'consumed': c90, 'violations': c91, 'at': (c92)."at", 'witness': (c92)."words"}]) AS uc2 FROM 
(SELECT c7, count(1) FILTER (WHERE c81) AS c87, count(1) FILTER (WHERE c82) AS c88, arg_min(CASE WHEN c82 THEN {'at': c80, 'words': c83} END, CASE WHEN c82 THEN {n0: c80 IS NOT NULL, v0: c80, n1: c83 IS NOT NULL, v1: c83} END) AS c89, count(1) FILTER (WHERE c84) AS c90, count(1) FILTER (WHERE c85) AS c91, arg_min(CASE WHEN c85 THEN {'at': c80, 'words': c86} END, CASE WHEN c85 THEN {n0: c80 IS NOT NULL, v0: c80, n1: c86 IS NOT NULL, v1: c86} END) AS c92 FROM 
(SELECT c7, c8 AS c80, coalesce(((c6 = 'added') AND (c79 >= c17)), FALSE) AS c81, CASE WHEN coalesce(((c6 = 'added') AND (c79 >= c17)), FALSE) THEN (NOT coalesce(c16, FALSE)) ELSE FALSE END AS c82, CASE WHEN CASE WHEN coalesce(((c6 = 'added') AND (c79 >= c17)), FALSE) THEN (NOT coalesce(c16, FALSE)) ELSE FALSE END THEN (c5 || ' began a replica of ' || ('folder=' || c9) || ' but asked no holder for its status') END AS c83, coalesce((c6 = 'due'), FALSE) AS c84, CASE WHEN coalesce((c6 = 'due'), FALSE) THEN (NOT coalesce(c16, FALSE)) ELSE FALSE END AS c85, CASE WHEN CASE WHEN coalesce((c6 = 'due'), FALSE) THEN (NOT coalesce(c16, FALSE)) ELSE FALSE END THEN (c5 || ' found a status of ' || ('folder=' || c9) || ' due, but sent none') END AS c86 FROM 
(SELECT c7, c5, c8, c9, c6, c16, c17, c79 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c7, c5, c8, c9, c6, c16, c17 FROM 
(SELECT c7, c5, c8, c9, c6, c3, c16, c17, c4 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c7 AS c7, c5 AS c5, c8 AS c8, c9 AS c9, c6 AS c6, c3 AS c3, c16 AS c16, c17 AS c17 FROM 
(SELECT c7, c5, c8, c9, c6, c3, c16, c8 AS c17 FROM 
(SELECT c7, c5, c8, c9, c6, c3, c16 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT "trace" AS c7, "node" AS c5, "at" AS c8, "folder" AS c9, "what" AS c6, "reached" AS c3 FROM "evidence/listed") WHERE (c6 = 'due')) LEFT JOIN 
(SELECT * FROM 
(SELECT c10, c11, c12, c13, TRUE AS c16 FROM 
(SELECT DISTINCT c10, c11, c12, c13 FROM 
(SELECT c10, c11, c12, c13 FROM 
(SELECT "trace" AS c10, "node" AS c11, "at" AS c12, "message_type" AS c15, "folder" AS c13, "what" AS c14 FROM "evidence/listed") WHERE ((c14 = 'mail') AND (c15 = (16)::BIGINT)))))) ON ((((c7 = c10) AND (c5 = c11)) AND (c8 = c12)) AND (c9 = c13)))))
UNION ALL SELECT c25 AS c7, c26 AS c5, c20 AS c8, c27 AS c9, c24 AS c6, c28 AS c3, c65 AS c16, c21 AS c17 FROM 
(SELECT c25, c26, c20, c27, c24, c28, c65, c21 FROM 
(SELECT c25, c26, c27, c20, c24, c28, c21, c65 FROM 
(SELECT c25, c26, c27, c20, c24, c28, c21, list_any(list_transform(c34, lambda v66: ((v66 >= c20) AND (v66 <= c21)))) AS c65 FROM 
(SELECT c25, c26, c27, c20, c24, c22, c28, c34, c19, c23, list_reduce(coalesce(c53, CAST([] AS STRUCT("back_at" BIGINT, "left_at" BIGINT)[])), lambda v62, v63: CASE WHEN (((v63)."back_at" > c20) AND ((v63)."left_at" <= v62)) THEN greatest(v62, add_wrapped((v63)."back_at", 86400000000::BIGINT)) ELSE v62 END, CAST(add_wrapped(c20, 86400000000::BIGINT) AS BIGINT)) AS c21 FROM 
(SELECT c25, c26, c27, c20, c24, c22, c28, c34, c19, c53, c23 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c25, c26, c27, c20, c24, c22, c28, c34, c19, c53 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c25, c26, c27, c20, c24, c22, c28, c34, c19 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT "trace" AS c25, "node" AS c26, "at" AS c20, "folder" AS c27, "what" AS c24, "alone_at" AS c22, "reached" AS c28 FROM "evidence/listed") WHERE (c24 = 'added')) LEFT JOIN 
(SELECT * FROM 
(SELECT c30, c31, c33, coalesce(list(DISTINCT CASE WHEN (c29 = 'responders') THEN c32 END) FILTER (WHERE CASE WHEN (c29 = 'responders') THEN c32 END IS NOT NULL), []) AS c34, coalesce(list(DISTINCT CASE WHEN (NOT (c29 = 'responders')) THEN c32 END) FILTER (WHERE CASE WHEN (NOT (c29 = 'responders')) THEN c32 END IS NOT NULL), []) AS c19 FROM 
(SELECT "trace" AS c30, "node" AS c31, "at" AS c32, "folder" AS c33, "what" AS c29 FROM "evidence/listed") WHERE (c29 IN ('responders', 'pending', 'dropped')) GROUP BY c30, c31, c33)) ON (((c25 = c30) AND (c26 = c31)) AND (c27 = c33))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c36, c37, list_transform(list_sort(list_transform(coalesce(list({'back_at': c40, 'left_at': c35}), []), lambda v54: {k: CASE WHEN v54 IS NOT NULL THEN {n0: (v54)."back_at" IS NOT NULL, v0: (v54)."back_at", n1: (v54)."left_at" IS NOT NULL, v1: (v54)."left_at"} END, v: v54}), 'ASC', 'NULLS LAST'), lambda v54: v54.v) AS c53 FROM 
(SELECT c36 AS c36, c37 AS c37, c40 AS c40, c35 AS c35 FROM 
(SELECT c36, c37, c40, c35 FROM 
(SELECT c36, c37, c40, c35, c35 FROM 
(SELECT *, lag(c41, 1, NULL) OVER (PARTITION BY c36, c37 ORDER BY c38 ASC NULLS FIRST ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING) AS c35 FROM 
(SELECT c36, c37, c40, c41, c38 FROM 
(SELECT c36, c37, c38, min(c39) AS c40, max(c39) AS c41 FROM 
(SELECT "trace" AS c36, "node" AS c37, "incarnation" AS c38, "at" AS c39 FROM "silver/events") GROUP BY c36, c37, c38))))) WHERE (c35 IS NOT NULL)
UNION ALL SELECT c46 AS c36, c44 AS c37, c52 AS c40, c49 AS c35 FROM 
(SELECT c46, c44, c52, c49 FROM 
(SELECT c46, c44, c52, c49 FROM 
(SELECT c46, c44, c42, c52, c49 FROM 
(SELECT c46, c44, c42, c49, coalesce(c51, 4611686018427387904::BIGINT) AS c52 FROM 
(SELECT *, min(c50) OVER (PARTITION BY c46, c44 ORDER BY c47 ASC NULLS FIRST ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) AS c51 FROM 
(SELECT c46, c44, c42, c48 AS c49, CASE WHEN (c42 = 'address.stamped') THEN c48 END AS c50, c47 FROM 
(SELECT c46, c42, c44, c47, c48, c43 FROM 
(SELECT "trace" AS c46, "node" AS c44, "type" AS c42, "seq" AS c47, "at" AS c48, "store" AS c43, "family" AS c45 FROM "silver/events") WHERE ((c45 IN ('replication')) AND (c42 IN ('address.stamped', 'address.missing')))) WHERE (c43 = c44))))) WHERE (c42 = 'address.missing')))) GROUP BY c36, c37)) ON ((c25 = c36) AND (c26 = c37))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c57, c58, arg_max_null(CASE WHEN (c56 = 'node.stopped') THEN c61 END, {n0: c59 IS NOT NULL, v0: c59, n1: c60 IS NOT NULL, v1: c60}) AS c23 FROM 
(SELECT c57, c56, c58, c59, c60, c61 FROM 
(SELECT "trace" AS c57, "node" AS c58, "type" AS c56, "incarnation" AS c59, "seq" AS c60, "at" AS c61, "family" AS c55 FROM "silver/events") WHERE ((c55 IN ('run')) AND (c56 IN ('node.started', 'node.stopped')))) GROUP BY c57, c58) WHERE (c23 IS NOT NULL)) ON ((c25 = c57) AND (c26 = c58))))) WHERE (((NOT list_any(list_transform(coalesce(c19, CAST([] AS BIGINT[])), lambda v18: ((v18 >= c20) AND (v18 <= c21))))) AND (NOT coalesce((c22 <= c21), FALSE))) AND (NOT coalesce((c23 <= c21), FALSE)))))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c67, coalesce(list(DISTINCT c68) FILTER (WHERE c68 IS NOT NULL), []) AS c4 FROM 
(SELECT DISTINCT c67, c68 FROM 
(SELECT c67 AS c67, c68 AS c68 FROM 
(SELECT c67, c68 FROM 
(SELECT c67, c68 FROM 
(SELECT "trace" AS c67, "type" AS c70, "store" AS c68, "family" AS c69 FROM "silver/events") WHERE ((c69 IN ('replication')) AND (c70 IN ('store.deleted')))))
UNION ALL SELECT c73 AS c67, c74 AS c68 FROM 
(SELECT c73, c74 FROM 
(SELECT c73, c74 FROM 
(SELECT c73, c74 FROM 
(SELECT "trace" AS c73, "type" AS c72, "store" AS c74, "family" AS c71 FROM "silver/events") WHERE ((c71 IN ('run')) AND (c72 IN ('backup.elsewhere')))))))) GROUP BY c67)) ON (c7 = c67))) WHERE (((coalesce(len(list_except(c3, coalesce(c4, CAST([] AS VARCHAR[]))))::INTEGER, -1) > 1) AND list_contains_or_null(c3, c5)) AND ((c6 = 'due') OR (NOT list_contains(coalesce(c4, CAST([] AS VARCHAR[])), c5)))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c77, max(c78) AS c79 FROM 
(SELECT c77, c78 FROM 
(SELECT "trace" AS c77, "type" AS c76, "at" AS c78, "family" AS c75 FROM "silver/events") WHERE ((c75 IN ('run')) AND (c76 IN ('run.ended')))) GROUP BY c77)) ON (c7 = c77)))) GROUP BY c7))))) WHERE (c1 > (0)::BIGINT));

-- table rules/new_stores needs node.started
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c6 AS "trace", c46 AS "check", c1 AS "consumed", c47 AS "violations", c48 AS "at", c49 AS "witness" FROM (SELECT * FROM 
(SELECT c6, (c2)."check" AS c46, (c2)."consumed" AS c1, (c2)."violations" AS c47, (c2)."at" AS c48, (c2)."witness" AS c49 FROM 
(SELECT c6, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'a new store asks for the hierarchy', 'consumed': c43, 'violations': c44, 'at': (c45)."at", 'witness': (c45)."words"}]) AS uc2 FROM 
(SELECT c6, count(1) FILTER (WHERE c40) AS c43, count(1) FILTER (WHERE c41) AS c44, arg_min(CASE WHEN c41 THEN {'at': c39, 'words': c42} END, CASE WHEN c41 THEN {n0: c39 IS NOT NULL, v0: c39, n1: c42 IS NOT NULL, v1: c42} END) AS c45 FROM 
(SELECT c6, c8 AS c39, coalesce((c38 >= c22), FALSE) AS c40, CASE WHEN coalesce((c38 >= c22), FALSE) THEN (NOT coalesce(c33, FALSE)) ELSE FALSE END AS c41, CASE WHEN CASE WHEN coalesce((c38 >= c22), FALSE) THEN (NOT coalesce(c33, FALSE)) ELSE FALSE END THEN (c7 || ' joined but did not ask all others for the status of the hierarchy within a day') END AS c42 FROM 
(SELECT c6, c7, c8, c22, c33, c38 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c6, c7, c8, c22, max(coalesce((c32 <= c22), FALSE)) AS c33 FROM 
(SELECT c6, c7, c8, c22, c32 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c6, c7, c8, add_wrapped(c21, 86400000000::BIGINT) AS c22 FROM 
(SELECT c6, c7, c8, c21 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c6, c7, c8 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c6, c7, c8 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c6, c7, c8 FROM 
(SELECT c6, c7, c8, c3 FROM 
(SELECT "trace" AS c6, "node" AS c7, "type" AS c5, "at" AS c8, "reason" AS c3, "family" AS c4 FROM "silver/events") WHERE ((c4 IN ('run')) AND (c5 IN ('node.started')))) WHERE (c3 = 'first'))) JOIN 
(SELECT * FROM 
(SELECT c10, c11 AS c12 FROM 
(SELECT "trace" AS c10, "store" AS c11, "later" AS c9 FROM "organization/servers") WHERE c9)) ON ((c6 = c10) AND (c7 = c12))))) ANTI JOIN 
(SELECT * FROM 
(SELECT "trace" AS c13, "node" AS c14 FROM "evidence/restored")) ON ((c6 = c13) AND (c7 = c14))))) JOIN 
(SELECT * FROM 
(SELECT c19, c16, min(c20) AS c21 FROM 
(SELECT c19, c16, c20, c15 FROM 
(SELECT "trace" AS c19, "node" AS c16, "type" AS c18, "at" AS c20, "store" AS c15, "family" AS c17 FROM "silver/events") WHERE ((c17 IN ('replication')) AND (c18 IN ('address.stamped')))) WHERE (c15 = c16) GROUP BY c19, c16)) ON ((c6 = c19) AND (c7 = c16)))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c30, c29, c31 AS c32 FROM 
(SELECT "trace" AS c30, "node" AS c29, "at" AS c31, "message_type" AS c24, "to" AS c26, "folder" AS c25, "what" AS c23, "reached" AS c28 FROM "evidence/listed") WHERE (((c23 = 'mail') AND (c24 = (32)::BIGINT)) AND ((c25 = '1-1') AND (c26 = list_sort(list_filter(c28, lambda v27: (NOT (v27 = c29))), 'ASC', 'NULLS LAST')))))) ON ((c6 = c30) AND (c7 = c29)))) GROUP BY c6, c7, c8, c22)) LEFT JOIN 
(SELECT * FROM 
(SELECT c36, max(c37) AS c38 FROM 
(SELECT c36, c37 FROM 
(SELECT "trace" AS c36, "type" AS c35, "at" AS c37, "family" AS c34 FROM "silver/events") WHERE ((c34 IN ('run')) AND (c35 IN ('run.ended')))) GROUP BY c36)) ON (c6 = c36)))) GROUP BY c6))))) WHERE (c1 > (0)::BIGINT));

-- table rules/deleted_stores needs store.deleted
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c6 AS "trace", c133 AS "check", c1 AS "consumed", c134 AS "violations", c135 AS "at", c136 AS "witness" FROM (SELECT * FROM 
(SELECT c6, (c2)."check" AS c133, (c2)."consumed" AS c1, (c2)."violations" AS c134, (c2)."at" AS c135, (c2)."witness" AS c136 FROM 
(SELECT c6, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'a store with replicas is not deleted', 'consumed': c127, 'violations': c128, 'at': (c129)."at", 'witness': (c129)."words"}, {'check': 'a store removed by force leaves all lists', 'consumed': c130, 'violations': c131, 'at': (c132)."at", 'witness': (c132)."words"}]) AS uc2 FROM 
(SELECT c6, count(1) FILTER (WHERE c121) AS c127, count(1) FILTER (WHERE c122) AS c128, arg_min(CASE WHEN c122 THEN {'at': c120, 'words': c123} END, CASE WHEN c122 THEN {n0: c120 IS NOT NULL, v0: c120, n1: c123 IS NOT NULL, v1: c123} END) AS c129, count(1) FILTER (WHERE c124) AS c130, count(1) FILTER (WHERE c125) AS c131, arg_min(CASE WHEN c125 THEN {'at': c120, 'words': c126} END, CASE WHEN c125 THEN {n0: c120 IS NOT NULL, v0: c120, n1: c126 IS NOT NULL, v1: c126} END) AS c132 FROM 
(SELECT c6, c116 AS c120, coalesce((NOT c117), FALSE) AS c121, CASE WHEN coalesce((NOT c117), FALSE) THEN (NOT coalesce((coalesce(len(c118)::INTEGER, -1) = 0), FALSE)) ELSE FALSE END AS c122, CASE WHEN CASE WHEN coalesce((NOT c117), FALSE) THEN (NOT coalesce((coalesce(len(c118)::INTEGER, -1) = 0), FALSE)) ELSE FALSE END THEN (c115 || ' deleted ' || c10 || ', which ' || (coalesce(len(c118)::INTEGER, -1))::VARCHAR || ' replica lists name') END AS c123, coalesce(c117, FALSE) AS c124, CASE WHEN coalesce(c117, FALSE) THEN (NOT coalesce((coalesce(len(c119)::INTEGER, -1) = 0), FALSE)) ELSE FALSE END AS c125, CASE WHEN CASE WHEN coalesce(c117, FALSE) THEN (NOT coalesce((coalesce(len(c119)::INTEGER, -1) = 0), FALSE)) ELSE FALSE END THEN (c115 || ' removed ' || c10 || ' but left it on the lists of ' || list_text(c119, ', ')) END AS c126 FROM 
(SELECT c6, c10, (c114)."node" AS c115, (c114)."at" AS c116, (c114)."forced" AS c117, (c114)."listing" AS c118, (c114)."left" AS c119 FROM 
(SELECT c6, c10, arg_min_null({'node': c7, 'at': c9, 'forced': c3, 'listing': c111, 'left': c112}, {n0: (NOT c3) IS NOT NULL, v0: (NOT c3), n1: coalesce(len(c111)::INTEGER, -1) IS NOT NULL, v1: coalesce(len(c111)::INTEGER, -1), n2: c7 IS NOT NULL, v2: c7}) AS c114 FROM 
(SELECT c6, c7, c9, c10, c3, c12, list_sort(coalesce(list(DISTINCT CASE WHEN c110 THEN c36 END) FILTER (WHERE CASE WHEN c110 THEN c36 END IS NOT NULL), []), 'ASC', 'NULLS LAST') AS c111, list_sort(coalesce(list(DISTINCT CASE WHEN (c110 AND (NOT list_any(list_transform(coalesce(c109, CAST([] AS VARCHAR[][])), lambda v113: (NOT list_contains_or_null(v113, c10)))))) THEN c36 END) FILTER (WHERE CASE WHEN (c110 AND (NOT list_any(list_transform(coalesce(c109, CAST([] AS VARCHAR[][])), lambda v113: (NOT list_contains_or_null(v113, c10)))))) THEN c36 END IS NOT NULL), []), 'ASC', 'NULLS LAST') AS c112 FROM 
(SELECT c6, c7, c9, c36, c10, c3, c12, c109, coalesce(((NOT (c76)."deleted") AND list_contains_or_null((c76)."list", c10)), FALSE) AS c110 FROM 
(SELECT c6, c7, c9, c36, c10, c3, c12, c76, c109 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c6, c7, c9, c10, c3, c12, c36, arg_max_null({'list': c75, 'deleted': c74}, CASE WHEN (c40 < c8) THEN c40 END) AS c76 FROM 
(SELECT c6, c7, c8, c9, c10, c3, c12, c36, c40, c75, c74 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c6, c7, c8, c9, c10, c3, c12 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c6 AS c6, c7 AS c7, c8 AS c8, c9 AS c9, c10 AS c10, c3 AS c3, c12 AS c12 FROM 
(SELECT c6, c7, c8, c9, c10, c3, coalesce(c11, (0)::BIGINT) AS c12 FROM 
(SELECT c6, c7, c8, c9, c10, c3, c11 FROM 
(SELECT "trace" AS c6, "node" AS c7, "type" AS c5, "seq" AS c8, "at" AS c9, "store" AS c10, "directory_object" AS c11, "forced" AS c3, "family" AS c4 FROM "silver/events") WHERE ((c4 IN ('replication')) AND (c5 IN ('store.deleted'))))) WHERE c3
UNION ALL SELECT c16 AS c6, c17 AS c7, c18 AS c8, c19 AS c9, c20 AS c10, c13 AS c3, c22 AS c12 FROM 
(SELECT c16, c17, c18, c19, c20, c13, c22 FROM 
(SELECT c16, c20, c22, c17, c18, c19, c13 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c16, c17, c18, c19, c20, c13, coalesce(c21, (0)::BIGINT) AS c22 FROM 
(SELECT c16, c17, c18, c19, c20, c13, c21 FROM 
(SELECT "trace" AS c16, "node" AS c17, "type" AS c15, "seq" AS c18, "at" AS c19, "store" AS c20, "directory_object" AS c21, "forced" AS c13, "family" AS c14 FROM "silver/events") WHERE ((c14 IN ('replication')) AND (c15 IN ('store.deleted'))))) WHERE (NOT c13)) ANTI JOIN 
(SELECT * FROM 
(SELECT DISTINCT c23, c24, c25 FROM 
(SELECT c23, c24, c25 FROM 
(SELECT c23, c24, c26, coalesce(c29, (0)::BIGINT) AS c25 FROM 
(SELECT c23, c24, c26, c29 FROM 
(SELECT "trace" AS c23, "type" AS c28, "store" AS c24, "directory_object" AS c29, "forced" AS c26, "family" AS c27 FROM "silver/events") WHERE ((c27 IN ('replication')) AND (c28 IN ('store.deleted'))))) WHERE c26))) ON (((c16 = c23) AND (c20 = c24)) AND (c22 = c25))))))) ANTI JOIN 
(SELECT * FROM 
(SELECT "trace" AS c30, "node" AS c31 FROM "evidence/restored")) ON ((c6 = c30) AND (c7 = c31))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c34, c39, c36, c40, c75, c74 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c34, c39, c36, c38, c40 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c34, c35 AS c39, c36, c38, c37 AS c40 FROM 
(SELECT "trace" AS c34, "store" AS c35, "folder" AS c32, "object" AS c36, "act" AS c33, "seq" AS c37, "number" AS c38 FROM "evidence/versions") WHERE ((c32 = '1-1') AND (c33 IN ('made', 'applied'))))) SEMI JOIN 
(SELECT * FROM 
(SELECT DISTINCT c41, c42 FROM 
(SELECT c41, c42 FROM 
(SELECT c41, c42 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c41 AS c41, c42 AS c42 FROM 
(SELECT c41, c42, c43 FROM 
(SELECT c41, c42, c43 FROM 
(SELECT "trace" AS c41, "node" AS c42, "type" AS c45, "forced" AS c43, "family" AS c44 FROM "silver/events") WHERE ((c44 IN ('replication')) AND (c45 IN ('store.deleted'))))) WHERE c43
UNION ALL SELECT c49 AS c41, c50 AS c42 FROM 
(SELECT c49, c50 FROM 
(SELECT c49, c50 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c49, c50, c51, c46, coalesce(c52, (0)::BIGINT) AS c53 FROM 
(SELECT c49, c50, c51, c46, c52 FROM 
(SELECT "trace" AS c49, "node" AS c50, "type" AS c48, "store" AS c51, "directory_object" AS c52, "forced" AS c46, "family" AS c47 FROM "silver/events") WHERE ((c47 IN ('replication')) AND (c48 IN ('store.deleted'))))) WHERE (NOT c46)) ANTI JOIN 
(SELECT * FROM 
(SELECT DISTINCT c54, c55, c56 FROM 
(SELECT c54, c55, c56 FROM 
(SELECT c54, c55, c57, coalesce(c60, (0)::BIGINT) AS c56 FROM 
(SELECT c54, c55, c57, c60 FROM 
(SELECT "trace" AS c54, "type" AS c59, "store" AS c55, "directory_object" AS c60, "forced" AS c57, "family" AS c58 FROM "silver/events") WHERE ((c58 IN ('replication')) AND (c59 IN ('store.deleted'))))) WHERE c57))) ON (((c49 = c54) AND (c51 = c55)) AND (c53 = c56))))))) ANTI JOIN 
(SELECT * FROM 
(SELECT "trace" AS c61, "node" AS c62 FROM "evidence/restored")) ON ((c41 = c61) AND (c42 = c62))))))) ON ((c34 = c41) AND (c39 = c42))))) JOIN 
(SELECT * FROM 
(SELECT c65, c69, c73 AS c75, c74 FROM 
(SELECT c65, c69, (c72)."replicas" AS c73, (c72)."deleted" AS c74 FROM 
(SELECT c65, c69, arg_min_null({'replicas': c71, 'deleted': c70}, {n0: c68 IS NOT NULL, v0: c68, n1: c66 IS NOT NULL, v1: c66, n2: c67 IS NOT NULL, v2: c67}) AS c72 FROM 
(SELECT "trace" AS c65, "store" AS c66, "folder" AS c63, "act" AS c64, "seq" AS c67, "at" AS c68, "number" AS c69, "deleted" AS c70, "replicas" AS c71 FROM "evidence/versions") WHERE ((c63 = '1-1') AND (c64 IN ('made', 'applied'))) AND (c64 = 'made') GROUP BY c65, c69)))) ON ((c34 = c65) AND (c38 = c69))))) ON ((c6 = c34) AND (c7 = c39)))) GROUP BY c6, c7, c9, c10, c3, c12, c36)) LEFT JOIN 
(SELECT * FROM 
(SELECT c80, c81, c82, c83, coalesce(list(c84) FILTER (WHERE c84 IS NOT NULL), []) AS c109 FROM 
(SELECT c80, c81, c82, c83, c84 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c80, c81, c82, c83, c84 FROM 
(SELECT c80, c81, c82, c77, c83, c84 FROM 
(SELECT "trace" AS c80, "node" AS c81, "type" AS c79, "at" AS c82, "folder" AS c77, "object" AS c83, "replicas" AS c84, "family" AS c78 FROM "silver/events") WHERE ((c78 IN ('change')) AND (c79 IN ('change.made')))) WHERE (c77 = '1-1'))) SEMI JOIN 
(SELECT * FROM 
(SELECT DISTINCT c85, c86, c87 FROM 
(SELECT c85, c86, c87 FROM 
(SELECT c85, c86, c87 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c85 AS c85, c86 AS c86, c87 AS c87 FROM 
(SELECT c85, c86, c87, c88 FROM 
(SELECT c85, c86, c87, c88 FROM 
(SELECT "trace" AS c85, "node" AS c86, "type" AS c90, "at" AS c87, "forced" AS c88, "family" AS c89 FROM "silver/events") WHERE ((c89 IN ('replication')) AND (c90 IN ('store.deleted'))))) WHERE c88
UNION ALL SELECT c94 AS c85, c95 AS c86, c96 AS c87 FROM 
(SELECT c94, c95, c96 FROM 
(SELECT c94, c95, c96 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c94, c95, c96, c97, c91, coalesce(c98, (0)::BIGINT) AS c99 FROM 
(SELECT c94, c95, c96, c97, c91, c98 FROM 
(SELECT "trace" AS c94, "node" AS c95, "type" AS c93, "at" AS c96, "store" AS c97, "directory_object" AS c98, "forced" AS c91, "family" AS c92 FROM "silver/events") WHERE ((c92 IN ('replication')) AND (c93 IN ('store.deleted'))))) WHERE (NOT c91)) ANTI JOIN 
(SELECT * FROM 
(SELECT DISTINCT c100, c101, c102 FROM 
(SELECT c100, c101, c102 FROM 
(SELECT c100, c101, c103, coalesce(c106, (0)::BIGINT) AS c102 FROM 
(SELECT c100, c101, c103, c106 FROM 
(SELECT "trace" AS c100, "type" AS c105, "store" AS c101, "directory_object" AS c106, "forced" AS c103, "family" AS c104 FROM "silver/events") WHERE ((c104 IN ('replication')) AND (c105 IN ('store.deleted'))))) WHERE c103))) ON (((c94 = c100) AND (c97 = c101)) AND (c99 = c102))))))) ANTI JOIN 
(SELECT * FROM 
(SELECT "trace" AS c107, "node" AS c108 FROM "evidence/restored")) ON ((c85 = c107) AND (c86 = c108))))))) ON (((c80 = c85) AND (c81 = c86)) AND (c82 = c87)))) GROUP BY c80, c81, c82, c83)) ON ((((c6 = c80) AND (c7 = c81)) AND (c9 = c82)) AND (c36 = c83))))) GROUP BY c6, c7, c9, c10, c3, c12) GROUP BY c6, c10, c12))) GROUP BY c6))))) WHERE (c1 > (0)::BIGINT));

-- table rules/absences needs organization.changed
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c8 AS "trace", c44 AS "check", c1 AS "consumed", c45 AS "violations", c46 AS "at", c47 AS "witness" FROM (SELECT * FROM 
(SELECT c8, (c2)."check" AS c44, (c2)."consumed" AS c1, (c2)."violations" AS c45, (c2)."at" AS c46, (c2)."witness" AS c47 FROM 
(SELECT c8, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'only servers of the organization act', 'consumed': c41, 'violations': c42, 'at': (c43)."at", 'witness': (c43)."words"}]) AS uc2 FROM 
(SELECT c8, count(1) FILTER (WHERE c38) AS c41, count(1) FILTER (WHERE c39) AS c42, arg_min(CASE WHEN c39 THEN {'at': c37, 'words': c40} END, CASE WHEN c39 THEN {n0: c37 IS NOT NULL, v0: c37, n1: c40 IS NOT NULL, v1: c40} END) AS c43 FROM 
(SELECT c8, c9 AS c37, coalesce(TRUE, FALSE) AS c38, CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce((c36 = (0)::BIGINT), FALSE)) ELSE FALSE END AS c39, CASE WHEN CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce((c36 = (0)::BIGINT), FALSE)) ELSE FALSE END THEN (c11 || ' has ' || (c36)::VARCHAR || ' events at times at which the organization had no such server') END AS c40 FROM 
(SELECT c8, c11, c9, coalesce(c35, (0)::BIGINT) AS c36 FROM 
(SELECT c8, c11, c9, c35 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c8, c11, c9 FROM 
(SELECT c8, c11, c9 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c8, c11, c9 FROM 
(SELECT c8, c11, c9, c3, c4 FROM 
(SELECT c8, c11, c9, c3, c4, c4 FROM 
(SELECT *, lag(c3, 1, NULL) OVER (PARTITION BY c8, c11 ORDER BY c10 ASC NULLS FIRST ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING) AS c4 FROM 
(SELECT c8, c11, c10, c9, c3 FROM 
(SELECT c8, split_part(c5, ' ', -1) AS c11, c10, c9, c3 FROM 
(SELECT c8, c9, c10, c5, c3 FROM 
(SELECT "trace" AS c8, "type" AS c7, "at" AS c9, "revision" AS c10, "subject" AS c5, "change" AS c3, "family" AS c6 FROM "silver/events") WHERE ((c6 IN ('run')) AND (c7 IN ('organization.changed')))) WHERE (c5 LIKE 'server %' ESCAPE '\')))))) WHERE ((c3 = 'removed') OR (c4 IS NULL)))) LEFT JOIN 
(SELECT * FROM 
(SELECT c12, c13 FROM 
(SELECT "trace" AS c12, "node" AS c13 FROM "evidence/nodes"))) ON ((c8 = c12) AND (c11 = c13)))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c20, c21, c29, count(c14) AS c35 FROM 
(SELECT c20, c21, c14, c29, c15, c17, c16, c19 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c20, c21, c22 AS c14 FROM 
(SELECT "trace" AS c20, "node" AS c21, "at" AS c22 FROM "silver/events"))) JOIN 
(SELECT * FROM 
(SELECT c28, c31, c29, c15, c17, c16, c19 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c28, c31, c29, CASE WHEN (c23 = 'removed') THEN c29 ELSE ((-1))::BIGINT END AS c15, CASE WHEN (c23 = 'removed') THEN coalesce(c32, 4611686018427387904::BIGINT) ELSE c29 END AS c17 FROM 
(SELECT c28, c31, c29, c23, c24, c32 FROM 
(SELECT c28, c31, c29, c23, c24, c32, c24, c32 FROM 
(SELECT *, lag(c23, 1, NULL) OVER (PARTITION BY c28, c31 ORDER BY c30 ASC NULLS FIRST ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING) AS c24, lead(c29, 1, NULL) OVER (PARTITION BY c28, c31 ORDER BY c30 ASC NULLS FIRST ROWS BETWEEN 1 FOLLOWING AND 1 FOLLOWING) AS c32 FROM 
(SELECT c28, c31, c30, c29, c23 FROM 
(SELECT c28, split_part(c25, ' ', -1) AS c31, c30, c29, c23 FROM 
(SELECT c28, c29, c30, c25, c23 FROM 
(SELECT "trace" AS c28, "type" AS c27, "at" AS c29, "revision" AS c30, "subject" AS c25, "change" AS c23, "family" AS c26 FROM "silver/events") WHERE ((c26 IN ('run')) AND (c27 IN ('organization.changed')))) WHERE (c25 LIKE 'server %' ESCAPE '\')))))) WHERE ((c23 = 'removed') OR (c24 IS NULL)))) LEFT JOIN 
(SELECT * FROM 
(SELECT c33, c34, c16, c19 FROM 
(SELECT "trace" AS c33, "node" AS c34, "exact" AS c16, "hindered" AS c19 FROM "evidence/nodes"))) ON ((c28 = c33) AND (c31 = c34))))) ON ((c20 = c28) AND (c21 = c31)))) WHERE (((c14 > add_wrapped(c15, CASE WHEN coalesce(c16, FALSE) THEN (900000000)::BIGINT ELSE 3600000000::BIGINT END)) AND (c14 < subtract_wrapped(c17, CASE WHEN coalesce(c16, FALSE) THEN (900000000)::BIGINT ELSE 3600000000::BIGINT END))) AND (NOT list_any(list_transform(coalesce(c19, CAST([] AS STRUCT("since" BIGINT, "until" BIGINT)[])), lambda v18: ((c14 >= (v18)."since") AND (c14 <= (v18)."until")))))) GROUP BY c20, c21, c29)) ON (((c8 = c20) AND (c11 = c21)) AND (c9 = c29)))))) GROUP BY c8))))) WHERE (c1 > (0)::BIGINT));

-- table rules/created_stores needs store.created
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c5 AS "trace", c44 AS "check", c1 AS "consumed", c45 AS "violations", c46 AS "at", c47 AS "witness" FROM (SELECT * FROM 
(SELECT c5, (c2)."check" AS c44, (c2)."consumed" AS c1, (c2)."violations" AS c45, (c2)."at" AS c46, (c2)."witness" AS c47 FROM 
(SELECT c5, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'a store is created in place of a deleted one', 'consumed': c38, 'violations': c39, 'at': (c40)."at", 'witness': (c40)."words"}, {'check': 'a created store begins as new', 'consumed': c41, 'violations': c42, 'at': (c43)."at", 'witness': (c43)."words"}]) AS uc2 FROM 
(SELECT c5, count(1) FILTER (WHERE c32) AS c38, count(1) FILTER (WHERE c33) AS c39, arg_min(CASE WHEN c33 THEN {'at': c31, 'words': c34} END, CASE WHEN c33 THEN {n0: c31 IS NOT NULL, v0: c31, n1: c34 IS NOT NULL, v1: c34} END) AS c40, count(1) FILTER (WHERE c35) AS c41, count(1) FILTER (WHERE c36) AS c42, arg_min(CASE WHEN c36 THEN {'at': c31, 'words': c37} END, CASE WHEN c36 THEN {n0: c31 IS NOT NULL, v0: c31, n1: c37 IS NOT NULL, v1: c37} END) AS c43 FROM 
(SELECT c5, c7 AS c31, coalesce(TRUE, FALSE) AS c32, CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce(c30, FALSE)) ELSE FALSE END AS c33, CASE WHEN CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce(c30, FALSE)) ELSE FALSE END THEN ('a store was created for ' || c10 || ', but the store before it was not deleted') END AS c34, coalesce((c12 IS NOT NULL), FALSE) AS c35, CASE WHEN coalesce((c12 IS NOT NULL), FALSE) THEN (NOT coalesce(((c12 = 'first') AND c20), FALSE)) ELSE FALSE END AS c36, CASE WHEN CASE WHEN coalesce((c12 IS NOT NULL), FALSE) THEN (NOT coalesce(((c12 = 'first') AND c20), FALSE)) ELSE FALSE END THEN (c10 || ' did not begin as a new store after its creation') END AS c37 FROM 
(SELECT c5, c10, c7, c12, c20, coalesce(c29, FALSE) AS c30 FROM 
(SELECT c5, c10, c7, c12, c20, c29 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c5, c10, c7, c3, c9, c12, c20 FROM 
(SELECT c5, c10, c7, c3, c9, c12, c20 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c5, c10, c7, c3, c9, c11 FROM 
(SELECT c5, c10, c7, c3, c9, c11 FROM 
(SELECT c5, c10, c7, c3, c9, c11, c11 FROM 
(SELECT *, row_number() OVER (PARTITION BY c5, c10 ORDER BY c6 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS c11 FROM 
(SELECT c5, c10, c6, c7, c3, c9 FROM 
(SELECT c5, c8 AS c10, c6, c7, c3, c9 FROM 
(SELECT c5, c3, c6, c7, c8, c9 FROM 
(SELECT "trace" AS c5, "type" AS c3, "seq" AS c6, "at" AS c7, "store" AS c8, "directory_object" AS c9, "family" AS c4 FROM "silver/events") WHERE ((c4 IN ('run')) AND (c3 IN ('store.created', 'backup.elsewhere', 'backup.restored'))))))))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c16, c17, c12, c20, c21 FROM 
(SELECT c16, c17, c12, c20, c21 FROM 
(SELECT c16, c17, c12, c20, c21 FROM 
(SELECT c16, c17, c12, c20, c21, c21 FROM 
(SELECT *, row_number() OVER (PARTITION BY c16, c17 ORDER BY c13 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS c21 FROM 
(SELECT c16, c17, c13, c12, c20 FROM 
(SELECT c16, c17, c13, c12, c20 FROM 
(SELECT c16, c17, c13, c12, (c19 = 1) AS c20 FROM 
(SELECT *, row_number() OVER (PARTITION BY c16, c17, c18 ORDER BY c13 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS c19 FROM 
(SELECT c16, c17, c13, c12, c18 FROM 
(SELECT c16, c17, c13, c12, c18 FROM 
(SELECT c16, c17, c13, c18, c12 FROM 
(SELECT "trace" AS c16, "node" AS c17, "type" AS c15, "seq" AS c13, "replica_guid" AS c18, "reason" AS c12, "family" AS c14 FROM "silver/events") WHERE ((c14 IN ('run')) AND (c15 IN ('node.started'))))))))) WHERE ((NOT (c12 = 'restart')) AND (c13 > (1)::BIGINT))))))))) ON (((c5 = c16) AND (c10 = c17)) AND (c11 = c21))))) WHERE (c3 = 'store.created')) LEFT JOIN 
(SELECT * FROM 
(SELECT c22, c23, c24, TRUE AS c29 FROM 
(SELECT DISTINCT c22, c23, c24 FROM 
(SELECT c22, c27 AS c23, add_wrapped(coalesce(c28, (0)::BIGINT), (1)::BIGINT) AS c24 FROM 
(SELECT c22, c27, c28 FROM 
(SELECT "trace" AS c22, "type" AS c26, "store" AS c27, "directory_object" AS c28, "family" AS c25 FROM "silver/events") WHERE ((c25 IN ('replication')) AND (c26 IN ('store.deleted')))))))) ON (((c5 = c22) AND (c10 = c23)) AND (c9 = c24)))))) GROUP BY c5))))) WHERE (c1 > (0)::BIGINT));

-- table rules/shown_stores needs backup.elsewhere
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c5 AS "trace", c34 AS "check", c1 AS "consumed", c35 AS "violations", c36 AS "at", c37 AS "witness" FROM (SELECT * FROM 
(SELECT c5, (c2)."check" AS c34, (c2)."consumed" AS c1, (c2)."violations" AS c35, (c2)."at" AS c36, (c2)."witness" AS c37 FROM 
(SELECT c5, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'a store that is only shown is silent', 'consumed': c31, 'violations': c32, 'at': (c33)."at", 'witness': (c33)."words"}]) AS uc2 FROM 
(SELECT c5, count(1) FILTER (WHERE c28) AS c31, count(1) FILTER (WHERE c29) AS c32, arg_min(CASE WHEN c29 THEN {'at': c27, 'words': c30} END, CASE WHEN c29 THEN {n0: c27 IS NOT NULL, v0: c27, n1: c30 IS NOT NULL, v1: c30} END) AS c33 FROM 
(SELECT c5, c7 AS c27, coalesce(TRUE, FALSE) AS c28, CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce((c26 = (0)::BIGINT), FALSE)) ELSE FALSE END AS c29, CASE WHEN CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce((c26 = (0)::BIGINT), FALSE)) ELSE FALSE END THEN (c9 || ' only shows the store of another server, but made or applied changes, or sent mail') END AS c30 FROM 
(SELECT c5, c9, c7, count(1) FILTER (WHERE coalesce(((c25 > c19) AND (c25 < coalesce(c18, 9223372036854775807::BIGINT))), FALSE)) AS c26 FROM 
(SELECT c5, c9, c7, c19, c18, c25 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c5, c9, c7, c3, c19, c18 FROM 
(SELECT c5, c9, c7, c3, c19, c18 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c5, c9, c7, c3, c10 FROM 
(SELECT c5, c9, c7, c3, c10 FROM 
(SELECT c5, c9, c7, c3, c10, c10 FROM 
(SELECT *, row_number() OVER (PARTITION BY c5, c9 ORDER BY c6 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS c10 FROM 
(SELECT c5, c9, c6, c7, c3 FROM 
(SELECT c5, c8 AS c9, c6, c7, c3 FROM 
(SELECT c5, c3, c6, c7, c8 FROM 
(SELECT "trace" AS c5, "type" AS c3, "seq" AS c6, "at" AS c7, "store" AS c8, "family" AS c4 FROM "silver/events") WHERE ((c4 IN ('run')) AND (c3 IN ('store.created', 'backup.elsewhere', 'backup.restored'))))))))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c15, c16, c19, c17, c18 FROM 
(SELECT c15, c16, c12 AS c19, c17, c18 FROM 
(SELECT c15, c16, c12, c17, c18 FROM 
(SELECT c15, c16, c12, c17, c18, c17, c18 FROM 
(SELECT *, row_number() OVER (PARTITION BY c15, c16 ORDER BY c12 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS c17, lead(c12, 1, NULL) OVER (PARTITION BY c15, c16 ORDER BY c12 ASC NULLS FIRST ROWS BETWEEN 1 FOLLOWING AND 1 FOLLOWING) AS c18 FROM 
(SELECT c15, c16, c12 FROM 
(SELECT c15, c16, c12, c11 FROM 
(SELECT c15, c16, c12, c11 FROM 
(SELECT * FROM 
(SELECT c15, c16, c12, c11 FROM 
(SELECT c15, c16, c12, c11 FROM 
(SELECT c15, c16, c12, c11 FROM 
(SELECT "trace" AS c15, "node" AS c16, "type" AS c14, "seq" AS c12, "reason" AS c11, "family" AS c13 FROM "silver/events") WHERE ((c13 IN ('run')) AND (c14 IN ('node.started'))))))))) WHERE ((NOT (c11 = 'restart')) AND (c12 > (1)::BIGINT))))))))) ON (((c5 = c15) AND (c9 = c16)) AND (c10 = c17))))) WHERE (c3 = 'backup.elsewhere')) LEFT JOIN 
(SELECT * FROM 
(SELECT c22, c23, c24 AS c25 FROM 
(SELECT "trace" AS c22, "node" AS c23, "type" AS c21, "seq" AS c24, "family" AS c20 FROM "silver/events") WHERE ((c20 IN ('change', 'mail')) AND (c21 IN ('change.made', 'version.applied', 'mail.submitted'))))) ON ((c5 = c22) AND (c9 = c23)))) GROUP BY c5, c9, c7)) GROUP BY c5))))) WHERE (c1 > (0)::BIGINT));

-- table rules/mailed_folders needs mail.submitted
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c4 AS "trace", c67 AS "check", c1 AS "consumed", c68 AS "violations", c69 AS "at", c70 AS "witness" FROM (SELECT * FROM 
(SELECT c4, (c2)."check" AS c67, (c2)."consumed" AS c1, (c2)."violations" AS c68, (c2)."at" AS c69, (c2)."witness" AS c70 FROM 
(SELECT c4, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'content is broadcast on schedule', 'consumed': c55, 'violations': c56, 'at': (c57)."at", 'witness': (c57)."words"}, {'check': 'broadcasts go to all other holders', 'consumed': c58, 'violations': c59, 'at': (c60)."at", 'witness': (c60)."words"}, {'check': 'statuses go to holders', 'consumed': c61, 'violations': c62, 'at': (c63)."at", 'witness': (c63)."words"}, {'check': 'mails go only where the objects name the tree', 'consumed': c64, 'violations': c65, 'at': (c66)."at", 'witness': (c66)."words"}]) AS uc2 FROM 
(SELECT c4, count(1) FILTER (WHERE c39) AS c55, count(1) FILTER (WHERE c40) AS c56, arg_min(CASE WHEN c40 THEN {'at': c38, 'words': c41} END, CASE WHEN c40 THEN {n0: c38 IS NOT NULL, v0: c38, n1: c41 IS NOT NULL, v1: c41} END) AS c57, count(1) FILTER (WHERE c42) AS c58, count(1) FILTER (WHERE c43) AS c59, arg_min(CASE WHEN c43 THEN {'at': c38, 'words': c45} END, CASE WHEN c43 THEN {n0: c38 IS NOT NULL, v0: c38, n1: c45 IS NOT NULL, v1: c45} END) AS c60, count(1) FILTER (WHERE c47) AS c61, count(1) FILTER (WHERE c48) AS c62, arg_min(CASE WHEN c48 THEN {'at': c38, 'words': c50} END, CASE WHEN c48 THEN {n0: c38 IS NOT NULL, v0: c38, n1: c50 IS NOT NULL, v1: c50} END) AS c63, count(1) FILTER (WHERE c52) AS c64, count(1) FILTER (WHERE c53) AS c65, arg_min(CASE WHEN c53 THEN {'at': c38, 'words': c54} END, CASE WHEN c53 THEN {n0: c38 IS NOT NULL, v0: c38, n1: c54 IS NOT NULL, v1: c54} END) AS c66 FROM 
(SELECT c4, c6 AS c38, coalesce(((((c9 = (4)::BIGINT) AND (NOT list_contains_or_null(coalesce(c10, CAST([] AS VARCHAR[])), 'resent'))) AND c32) AND ((c36 AND c13) AND (c25 IS NOT NULL))), FALSE) AS c39, CASE WHEN coalesce(((((c9 = (4)::BIGINT) AND (NOT list_contains_or_null(coalesce(c10, CAST([] AS VARCHAR[])), 'resent'))) AND c32) AND ((c36 AND c13) AND (c25 IS NOT NULL))), FALSE) THEN (NOT coalesce(CASE WHEN (c6 = c22) THEN TRUE WHEN (c25 = 'never') THEN FALSE WHEN regexp_matches(c25, '^every [0-9]+ h(?:\r\n|[\n\r\x{85}\x{2028}\x{2029}])?\z') THEN (remainder_or_null(c6, multiply_wrapped(text_to_bigint(regexp_extract(c25, '[0-9]+', 0)), 3600000000::BIGINT)) = (0)::BIGINT) ELSE (remainder_or_null(c6, (900000000)::BIGINT) = (0)::BIGINT) END, FALSE)) ELSE FALSE END AS c40, CASE WHEN CASE WHEN coalesce(((((c9 = (4)::BIGINT) AND (NOT list_contains_or_null(coalesce(c10, CAST([] AS VARCHAR[])), 'resent'))) AND c32) AND ((c36 AND c13) AND (c25 IS NOT NULL))), FALSE) THEN (NOT coalesce(CASE WHEN (c6 = c22) THEN TRUE WHEN (c25 = 'never') THEN FALSE WHEN regexp_matches(c25, '^every [0-9]+ h(?:\r\n|[\n\r\x{85}\x{2028}\x{2029}])?\z') THEN (remainder_or_null(c6, multiply_wrapped(text_to_bigint(regexp_extract(c25, '[0-9]+', 0)), 3600000000::BIGINT)) = (0)::BIGINT) ELSE (remainder_or_null(c6, (900000000)::BIGINT) = (0)::BIGINT) END, FALSE)) ELSE FALSE END THEN (c5 || ' broadcast <' || c8 || '> outside the schedule of ' || ('folder=' || c12)) END AS c41, coalesce(((c9 IN ((2)::BIGINT, (4)::BIGINT)) AND (NOT list_contains_or_null(coalesce(c10, CAST([] AS VARCHAR[])), 'resent'))), FALSE) AS c42, CASE WHEN coalesce(((c9 IN ((2)::BIGINT, (4)::BIGINT)) AND (NOT list_contains_or_null(coalesce(c10, CAST([] AS VARCHAR[])), 'resent'))), FALSE) THEN (NOT coalesce((c11 = list_sort(list_filter(c14, lambda v44: (NOT (v44 = c5))), 'ASC', 'NULLS LAST')), FALSE)) ELSE FALSE END AS c43, CASE WHEN CASE WHEN coalesce(((c9 IN ((2)::BIGINT, (4)::BIGINT)) AND (NOT list_contains_or_null(coalesce(c10, CAST([] AS VARCHAR[])), 'resent'))), FALSE) THEN (NOT coalesce((c11 = list_sort(list_filter(c14, lambda v46: (NOT (v46 = c5))), 'ASC', 'NULLS LAST')), FALSE)) ELSE FALSE END THEN (c5 || ' sent <' || c8 || '> to ' || list_text(c11, ', ') || ', but the holders are ' || list_text(c14, ', ')) END AS c45, coalesce((c9 = (16)::BIGINT), FALSE) AS c47, CASE WHEN coalesce((c9 = (16)::BIGINT), FALSE) THEN (NOT coalesce(((coalesce(len(c11)::INTEGER, -1) = 1) OR (c11 = list_sort(list_filter(c14, lambda v49: (NOT (v49 = c5))), 'ASC', 'NULLS LAST'))), FALSE)) ELSE FALSE END AS c48, CASE WHEN CASE WHEN coalesce((c9 = (16)::BIGINT), FALSE) THEN (NOT coalesce(((coalesce(len(c11)::INTEGER, -1) = 1) OR (c11 = list_sort(list_filter(c14, lambda v51: (NOT (v51 = c5))), 'ASC', 'NULLS LAST'))), FALSE)) ELSE FALSE END THEN (c5 || ' sent the status <' || c8 || '> to ' || list_text(c11, ', ')) END AS c50, coalesce((c15 IS NOT NULL), FALSE) AS c52, CASE WHEN coalesce((c15 IS NOT NULL), FALSE) THEN (NOT coalesce(c15, FALSE)) ELSE FALSE END AS c53, CASE WHEN CASE WHEN coalesce((c15 IS NOT NULL), FALSE) THEN (NOT coalesce(c15, FALSE)) ELSE FALSE END THEN (c5 || ' sent <' || c8 || '> about ' || ('folder=' || c12) || ' although the object of a holder names no tree') END AS c54 FROM 
(SELECT c4, c5, c12, c6, c8, c9, c10, c11, c13, c14, c15, c22, c25, c32, c36 FROM 
(SELECT c4, c5, c12, c6, c8, c9, c10, c11, c13, c14, c15, c22, c25, c32, (NOT list_any(list_transform(coalesce(c35, CAST([] AS STRUCT("since" BIGINT, "until" BIGINT)[])), lambda v37: ((c6 >= (v37)."since") AND (c6 <= (v37)."until"))))) AS c36 FROM 
(SELECT c4, c5, c12, c6, c8, c9, c10, c11, c13, c14, c15, c22, c25, c32, c35 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c4, c5, c12, c6, c8, c9, c10, c11, c13, c14, c15, c22, c25, coalesce(c31, FALSE) AS c32 FROM 
(SELECT c4, c5, c12, c6, c8, c9, c10, c11, c13, c14, c15, c22, c25, c31 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c4, c12, c5, c6, c8, c9, c10, c11, c13, c14, c15, c22, c25 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c4, c5, c6, c8, c9, c10, c11, c12, c13, c14, c15, c22 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT "trace" AS c4, "node" AS c5, "at" AS c6, "incarnation" AS c7, "mail" AS c8, "message_type" AS c9, "marks" AS c10, "to" AS c11, "folder" AS c12, "what" AS c3, "untouched" AS c13, "reached" AS c14, "in_tree" AS c15 FROM "evidence/listed") WHERE (c3 = 'mail')) LEFT JOIN 
(SELECT * FROM 
(SELECT c18, c19, c20, max(c21) AS c22 FROM 
(SELECT c18, c19, c20, c21 FROM 
(SELECT "trace" AS c18, "node" AS c19, "type" AS c17, "incarnation" AS c20, "at" AS c21, "family" AS c16 FROM "silver/events") WHERE ((c16 IN ('run')) AND (c17 IN ('node.started')))) GROUP BY c18, c19, c20)) ON (((c4 = c18) AND (c5 = c19)) AND (c7 = c20))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c23, concat_ws(':', c27, (c24)::VARCHAR) AS c28, c25 FROM 
(SELECT c23, c24, c25, c27 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT "trace" AS c23, "n" AS c24, "schedule" AS c25 FROM "organization/genesis")) JOIN 
(SELECT * FROM 
(SELECT "trace" AS c26, "guid" AS c27 FROM "organization/setup")) ON (c23 = c26))))) ON ((c4 = c23) AND (c12 = c28))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c29, c30, TRUE AS c31 FROM 
(SELECT "trace" AS c29, "node" AS c30 FROM "evidence/plain"))) ON ((c4 = c29) AND (c5 = c30)))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c33, c34, c35 FROM 
(SELECT "trace" AS c33, "node" AS c34, "hindered" AS c35 FROM "evidence/nodes"))) ON ((c4 = c33) AND (c5 = c34))))))) GROUP BY c4))))) WHERE (c1 > (0)::BIGINT));

-- table rules/statuses needs mail.submitted,status.due
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c6 AS "trace", c113 AS "check", c1 AS "consumed", c114 AS "violations", c115 AS "at", c116 AS "witness" FROM (SELECT * FROM 
(SELECT c6, (c2)."check" AS c113, (c2)."consumed" AS c1, (c2)."violations" AS c114, (c2)."at" AS c115, (c2)."witness" AS c116 FROM 
(SELECT c6, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'status checks run on schedule', 'consumed': c95, 'violations': c96, 'at': (c97)."at", 'witness': (c97)."words"}, {'check': 'a status waits 24 hours', 'consumed': c98, 'violations': c99, 'at': (c100)."at", 'witness': (c100)."words"}, {'check': 'a status is due within 36 hours', 'consumed': c101, 'violations': c102, 'at': (c103)."at", 'witness': (c103)."words"}, {'check': 'one status after an update', 'consumed': c104, 'violations': c105, 'at': (c106)."at", 'witness': (c106)."words"}, {'check': '5.5 reports its own changes', 'consumed': c107, 'violations': c108, 'at': (c109)."at", 'witness': (c109)."words"}, {'check': 'a repeat follows its status', 'consumed': c110, 'violations': c111, 'at': (c112)."at", 'witness': (c112)."words"}]) AS uc2 FROM 
(SELECT c6, count(1) FILTER (WHERE c77) AS c95, count(1) FILTER (WHERE c78) AS c96, arg_min(CASE WHEN c78 THEN {'at': c76, 'words': c79} END, CASE WHEN c78 THEN {n0: c76 IS NOT NULL, v0: c76, n1: c79 IS NOT NULL, v1: c79} END) AS c97, count(1) FILTER (WHERE c80) AS c98, count(1) FILTER (WHERE c81) AS c99, arg_min(CASE WHEN c81 THEN {'at': c76, 'words': c82} END, CASE WHEN c81 THEN {n0: c76 IS NOT NULL, v0: c76, n1: c82 IS NOT NULL, v1: c82} END) AS c100, count(1) FILTER (WHERE c83) AS c101, count(1) FILTER (WHERE c84) AS c102, arg_min(CASE WHEN c84 THEN {'at': c76, 'words': c85} END, CASE WHEN c84 THEN {n0: c76 IS NOT NULL, v0: c76, n1: c85 IS NOT NULL, v1: c85} END) AS c103, count(1) FILTER (WHERE c86) AS c104, count(1) FILTER (WHERE c87) AS c105, arg_min(CASE WHEN c87 THEN {'at': c76, 'words': c88} END, CASE WHEN c87 THEN {n0: c76 IS NOT NULL, v0: c76, n1: c88 IS NOT NULL, v1: c88} END) AS c106, count(1) FILTER (WHERE c89) AS c107, count(1) FILTER (WHERE c90) AS c108, arg_min(CASE WHEN c90 THEN {'at': c76, 'words': c91} END, CASE WHEN c90 THEN {n0: c76 IS NOT NULL, v0: c76, n1: c91 IS NOT NULL, v1: c91} END) AS c109, count(1) FILTER (WHERE c92) AS c110, count(1) FILTER (WHERE c93) AS c111, arg_min(CASE WHEN c93 THEN {'at': c76, 'words': c94} END, CASE WHEN c93 THEN {n0: c76 IS NOT NULL, v0: c76, n1: c94 IS NOT NULL, v1: c94} END) AS c112 FROM 
(SELECT c6, c9 AS c76, coalesce(((c70 AND c74) AND ((c3 = 'due') AND c66)), FALSE) AS c77, CASE WHEN coalesce(((c70 AND c74) AND ((c3 = 'due') AND c66)), FALSE) THEN (NOT coalesce((remainder_or_null(subtract_wrapped(c13, (900000000)::BIGINT), 43200000000::BIGINT) = (0)::BIGINT), FALSE)) ELSE FALSE END AS c78, CASE WHEN CASE WHEN coalesce(((c70 AND c74) AND ((c3 = 'due') AND c66)), FALSE) THEN (NOT coalesce((remainder_or_null(subtract_wrapped(c13, (900000000)::BIGINT), 43200000000::BIGINT) = (0)::BIGINT), FALSE)) ELSE FALSE END THEN (c7 || ' checked statuses at another time') END AS c79, coalesce(((c70 AND (c3 = 'due')) AND (c39 IS NOT NULL)), FALSE) AS c80, CASE WHEN coalesce(((c70 AND (c3 = 'due')) AND (c39 IS NOT NULL)), FALSE) THEN (NOT coalesce((subtract_wrapped(c13, c39) >= 86400000000::BIGINT), FALSE)) ELSE FALSE END AS c81, CASE WHEN CASE WHEN coalesce(((c70 AND (c3 = 'due')) AND (c39 IS NOT NULL)), FALSE) THEN (NOT coalesce((subtract_wrapped(c13, c39) >= 86400000000::BIGINT), FALSE)) ELSE FALSE END THEN (c7 || ' found a status of ' || ('folder=' || c10) || ' due too early') END AS c82, coalesce((((c70 AND c74) AND (c3 = 'due')) AND (c66 AND (c39 IS NOT NULL))), FALSE) AS c83, CASE WHEN coalesce((((c70 AND c74) AND (c3 = 'due')) AND (c66 AND (c39 IS NOT NULL))), FALSE) THEN (NOT coalesce((subtract_wrapped(c13, c39) <= 129600000000::BIGINT), FALSE)) ELSE FALSE END AS c84, CASE WHEN CASE WHEN coalesce((((c70 AND c74) AND (c3 = 'due')) AND (c66 AND (c39 IS NOT NULL))), FALSE) THEN (NOT coalesce((subtract_wrapped(c13, c39) <= 129600000000::BIGINT), FALSE)) ELSE FALSE END THEN (c7 || ' found a status of ' || ('folder=' || c10) || ' due too late') END AS c85, coalesce(((c70 AND (c3 = 'due')) AND (c66 AND (c41 IS NOT NULL))), FALSE) AS c86, CASE WHEN coalesce(((c70 AND (c3 = 'due')) AND (c66 AND (c41 IS NOT NULL))), FALSE) THEN (NOT coalesce((c39 >= c41), FALSE)) ELSE FALSE END AS c87, CASE WHEN CASE WHEN coalesce(((c70 AND (c3 = 'due')) AND (c66 AND (c41 IS NOT NULL))), FALSE) THEN (NOT coalesce((c39 >= c41), FALSE)) ELSE FALSE END THEN (c7 || ' sent a second status of ' || ('folder=' || c10) || ' without an update in between') END AS c88, coalesce((((c3 = 'due') AND c65) AND c66), FALSE) AS c89, CASE WHEN coalesce((((c3 = 'due') AND c65) AND c66), FALSE) THEN (NOT coalesce(coalesce((c40 >= coalesce(c41, (0)::BIGINT)), FALSE), FALSE)) ELSE FALSE END AS c90, CASE WHEN CASE WHEN coalesce((((c3 = 'due') AND c65) AND c66), FALSE) THEN (NOT coalesce(coalesce((c40 >= coalesce(c41, (0)::BIGINT)), FALSE), FALSE)) ELSE FALSE END THEN (c7 || ' found a status of ' || ('folder=' || c10) || ' due, but had not changed the folder') END AS c91, coalesce((c70 AND (c3 = 'repeat')), FALSE) AS c92, CASE WHEN coalesce((c70 AND (c3 = 'repeat')), FALSE) THEN (NOT coalesce(((subtract_wrapped(c9, c41) >= 86400000000::BIGINT) AND coalesce((c39 <= c41), TRUE)), FALSE)) ELSE FALSE END AS c93, CASE WHEN CASE WHEN coalesce((c70 AND (c3 = 'repeat')), FALSE) THEN (NOT coalesce(((subtract_wrapped(c9, c41) >= 86400000000::BIGINT) AND coalesce((c39 <= c41), TRUE)), FALSE)) ELSE FALSE END THEN (c7 || ' repeated a status of ' || ('folder=' || c10) || ' that it had not sent a day before, or that is older than an update') END AS c94 FROM 
(SELECT c6, c7, c9, c10, c13, c3, c39, c40, c41, c65, c66, c70, c74 FROM 
(SELECT c6, c7, c9, c10, c13, c3, c39, c40, c41, c65, c66, c70, (NOT list_any(list_transform(coalesce(c73, CAST([] AS STRUCT("since" BIGINT, "until" BIGINT)[])), lambda v75: ((c9 >= (v75)."since") AND (c9 <= (v75)."until"))))) AS c74 FROM 
(SELECT c6, c7, c9, c10, c13, c3, c39, c40, c41, c65, c66, c70, c73 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c6, c7, c9, c10, c13, c3, c39, c40, c41, c65, c66, coalesce(c69, FALSE) AS c70 FROM 
(SELECT c6, c7, c9, c10, c13, c3, c39, c40, c41, c65, c66, c69 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c6, c7, c9, c10, c13, c3, c39, c40, c41, c65, (c52 IS NULL) AS c66 FROM 
(SELECT c6, c7, c9, c10, c13, c3, c39, c40, c41, c52, coalesce(c64, FALSE) AS c65 FROM 
(SELECT c6, c7, c9, c10, c13, c3, c39, c40, c41, c52, c64 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c6, c7, c9, c10, c13, c3, c39, c40, c41, c52 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c6, c7, c9, c10, c13, c3, c39, c40, c41 FROM 
(SELECT c6, c7, c9, c10, c13, c3, c39, c40, c41, c39, c40, c41 FROM 
(SELECT *, last_value(c11 IGNORE NULLS) OVER (PARTITION BY c6, c7, c10 ORDER BY c8 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS c39, last_value(c12 IGNORE NULLS) OVER (PARTITION BY c6, c7, c10 ORDER BY c8 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS c40, last_value(c13 IGNORE NULLS) OVER (PARTITION BY c6, c7, c10 ORDER BY c8 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS c41 FROM 
(SELECT c6, c7, c8, c9, c10, c11, c12, c13, c3 FROM 
(SELECT c6 AS c6, c7 AS c7, c8 AS c8, c9 AS c9, c10 AS c10, c11 AS c11, c12 AS c12, c13 AS c13, c3 AS c3 FROM 
(SELECT c6, c7, c8, c9, c10, c11, c12, c13, c3 FROM 
(SELECT c6 AS c6, c7 AS c7, c8 AS c8, c9 AS c9, c10 AS c10, c11 AS c11, c12 AS c12, c13 AS c13, c3 AS c3 FROM 
(SELECT c6, c7, c8, c9, c10, c11, c12, CAST(NULL AS BIGINT) AS c13, CAST(NULL AS VARCHAR) AS c3 FROM 
(SELECT c6, c7, c8, c9, c10, c9 AS c11, CASE WHEN (c5 = 'change.made') THEN c9 END AS c12 FROM 
(SELECT c6, c5, c7, c8, c9, c10 FROM 
(SELECT "trace" AS c6, "node" AS c7, "type" AS c5, "seq" AS c8, "at" AS c9, "folder" AS c10, "family" AS c4 FROM "silver/events") WHERE ((c4 IN ('change')) AND (c5 IN ('change.made', 'version.applied'))))))
UNION ALL SELECT c17 AS c6, c18 AS c7, c19 AS c8, c20 AS c9, c14 AS c10, c25 AS c11, c26 AS c12, c23 AS c13, c24 AS c3 FROM 
(SELECT c17, c18, c19, c20, c14, CAST(NULL AS BIGINT) AS c25, CAST(NULL AS BIGINT) AS c26, c23, c24 FROM 
(SELECT c17, c18, c19, c20, c14, c20 AS c23, 'due' AS c24 FROM 
(SELECT * EXCLUDE (uc14), uc14 AS c14 FROM (SELECT *, unnest(c22) AS uc14 FROM 
(SELECT c17, c18, c19, c20, list_from_json(c21, '"VARCHAR[]"') AS c22 FROM 
(SELECT "trace" AS c17, "node" AS c18, "type" AS c16, "seq" AS c19, "at" AS c20, "folders" AS c21, "family" AS c15 FROM "silver/events") WHERE ((c15 IN ('replication')) AND (c16 IN ('status.due'))))))))))
UNION ALL SELECT c30 AS c6, c31 AS c7, c32 AS c8, c33 AS c9, c34 AS c10, c36 AS c11, c37 AS c12, c38 AS c13, c35 AS c3 FROM 
(SELECT c30, c31, c32, c33, c34, CAST(NULL AS BIGINT) AS c36, CAST(NULL AS BIGINT) AS c37, CAST(NULL AS BIGINT) AS c38, c35 FROM 
(SELECT c30, c31, c32, c33, c34, 'repeat' AS c35 FROM 
(SELECT "trace" AS c30, "node" AS c31, "seq" AS c32, "at" AS c33, "message_type" AS c28, "marks" AS c29, "folder" AS c34, "what" AS c27 FROM "evidence/listed") WHERE (((c27 = 'mail') AND (c28 = (16)::BIGINT)) AND list_contains_or_null(coalesce(c29, CAST([] AS VARCHAR[])), 'repeat'))))))))) WHERE (c3 IS NOT NULL)) LEFT JOIN 
(SELECT * FROM 
(SELECT c42, c43, TRUE AS c52 FROM 
(SELECT DISTINCT c42, c43 FROM 
(SELECT c42 AS c42, c43 AS c43 FROM 
(SELECT c42, c43 FROM 
(SELECT c42, c43, c44 FROM 
(SELECT "trace" AS c42, "node" AS c43, "type" AS c46, "seq" AS c44, "family" AS c45 FROM "silver/events") WHERE ((c45 IN ('run')) AND (c46 IN ('node.started')))) WHERE (c44 > (1)::BIGINT))
UNION ALL SELECT c51 AS c42, c48 AS c43 FROM 
(SELECT c51, c48 FROM 
(SELECT c51, c48 FROM 
(SELECT c51, c48, c47 FROM 
(SELECT "trace" AS c51, "node" AS c48, "type" AS c50, "store" AS c47, "family" AS c49 FROM "silver/events") WHERE ((c49 IN ('replication')) AND (c50 IN ('address.missing')))) WHERE (c47 = c48))))))) ON ((c6 = c42) AND (c7 = c43))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c53, c54, TRUE AS c64 FROM 
(SELECT c53, c54 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT DISTINCT c53, c54 FROM 
(SELECT c53, c54 FROM 
(SELECT c53, c54, c55 FROM 
(SELECT "trace" AS c53, "node" AS c54, "type" AS c57, "version" AS c55, "family" AS c56 FROM "silver/events") WHERE ((c56 IN ('run')) AND (c57 IN ('node.started')))) WHERE (c55 = '5.5')))) ANTI JOIN 
(SELECT * FROM 
(SELECT DISTINCT c58, c59 FROM 
(SELECT c58, c59 FROM 
(SELECT c58, c59, c60, c61 FROM 
(SELECT "trace" AS c58, "node" AS c59, "type" AS c63, "name" AS c60, "value" AS c61, "family" AS c62 FROM "silver/events") WHERE ((c62 IN ('run')) AND (c63 IN ('setting.value')))) WHERE ((c60 = 'Service Pack') AND (TRY_CAST(text_to_bigint(c61) AS INTEGER) < 4))))) ON ((c53 = c58) AND (c54 = c59)))))) ON ((c6 = c53) AND (c7 = c54))))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c67, c68, TRUE AS c69 FROM 
(SELECT "trace" AS c67, "node" AS c68 FROM "evidence/plain"))) ON ((c6 = c67) AND (c7 = c68)))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c71, c72, c73 FROM 
(SELECT "trace" AS c71, "node" AS c72, "hindered" AS c73 FROM "evidence/nodes"))) ON ((c6 = c71) AND (c7 = c72))))))) GROUP BY c6))))) WHERE (c1 > (0)::BIGINT));

-- table rules/responders needs responders.considered
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c4 AS "trace", c26 AS "check", c1 AS "consumed", c27 AS "violations", c28 AS "at", c29 AS "witness" FROM (SELECT * FROM 
(SELECT c4, (c2)."check" AS c26, (c2)."consumed" AS c1, (c2)."violations" AS c27, (c2)."at" AS c28, (c2)."witness" AS c29 FROM 
(SELECT c4, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'all holders are asked for their status', 'consumed': c20, 'violations': c21, 'at': (c22)."at", 'witness': (c22)."words"}, {'check': 'the six steps list the right number of responders', 'consumed': c23, 'violations': c24, 'at': (c25)."at", 'witness': (c25)."words"}]) AS uc2 FROM 
(SELECT c4, count(1) FILTER (WHERE c12) AS c20, count(1) FILTER (WHERE c13) AS c21, arg_min(CASE WHEN c13 THEN {'at': c11, 'words': c15} END, CASE WHEN c13 THEN {n0: c11 IS NOT NULL, v0: c11, n1: c15 IS NOT NULL, v1: c15} END) AS c22, count(1) FILTER (WHERE c17) AS c23, count(1) FILTER (WHERE c18) AS c24, arg_min(CASE WHEN c18 THEN {'at': c11, 'words': c19} END, CASE WHEN c18 THEN {n0: c11 IS NOT NULL, v0: c11, n1: c19 IS NOT NULL, v1: c19} END) AS c25 FROM 
(SELECT c4, c6 AS c11, coalesce((coalesce(c8, '') IN ('', 'all holders')), FALSE) AS c12, CASE WHEN coalesce((coalesce(c8, '') IN ('', 'all holders')), FALSE) THEN (NOT coalesce((list_sort(c7, 'ASC', 'NULLS LAST') = list_sort(list_filter(c10, lambda v14: (NOT (v14 = c5))), 'ASC', 'NULLS LAST')), FALSE)) ELSE FALSE END AS c13, CASE WHEN CASE WHEN coalesce((coalesce(c8, '') IN ('', 'all holders')), FALSE) THEN (NOT coalesce((list_sort(c7, 'ASC', 'NULLS LAST') = list_sort(list_filter(c10, lambda v16: (NOT (v16 = c5))), 'ASC', 'NULLS LAST')), FALSE)) ELSE FALSE END THEN (c5 || ' asked ' || list_text(c7, ', ') || ' for a status, but the holders are ' || list_text(c10, ', ')) END AS c15, coalesce((c8 = 'six steps'), FALSE) AS c17, CASE WHEN coalesce((c8 = 'six steps'), FALSE) THEN (NOT coalesce((((coalesce(len(list_except(c7, c10))::INTEGER, -1) = 0) AND (NOT list_contains_or_null(c7, c5))) AND (((coalesce(len(c7)::INTEGER, -1))::BIGINT <= c9) AND (coalesce(len(c7)::INTEGER, -1) >= least(3, (coalesce(len(c10)::INTEGER, -1) - 1))))), FALSE)) ELSE FALSE END AS c18, CASE WHEN CASE WHEN coalesce((c8 = 'six steps'), FALSE) THEN (NOT coalesce((((coalesce(len(list_except(c7, c10))::INTEGER, -1) = 0) AND (NOT list_contains_or_null(c7, c5))) AND (((coalesce(len(c7)::INTEGER, -1))::BIGINT <= c9) AND (coalesce(len(c7)::INTEGER, -1) >= least(3, (coalesce(len(c10)::INTEGER, -1) - 1))))), FALSE)) ELSE FALSE END THEN (c5 || ' asked ' || list_text(c7, ', ') || ' for a status, and the holders are ' || list_text(c10, ', ')) END AS c19 FROM 
(SELECT "trace" AS c4, "node" AS c5, "at" AS c6, "what" AS c3, "chosen" AS c7, "method" AS c8, "limit" AS c9, "reached" AS c10 FROM "evidence/listed") WHERE (c3 = 'responders')) GROUP BY c4))))) WHERE (c1 > (0)::BIGINT));

-- table rules/decisions needs responders.considered,sources.considered
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c5 AS "trace", c54 AS "check", c1 AS "consumed", c55 AS "violations", c56 AS "at", c57 AS "witness" FROM (SELECT * FROM 
(SELECT c5, (c2)."check" AS c54, (c2)."consumed" AS c1, (c2)."violations" AS c55, (c2)."at" AS c56, (c2)."witness" AS c57 FROM 
(SELECT c5, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'responders are those that a step listed', 'consumed': c42, 'violations': c43, 'at': (c44)."at", 'witness': (c44)."words"}, {'check': 'each step lists its first store', 'consumed': c45, 'violations': c46, 'at': (c47)."at", 'witness': (c47)."words"}, {'check': 'backfill sources are sorted', 'consumed': c48, 'violations': c49, 'at': (c50)."at", 'witness': (c50)."words"}, {'check': 'the first useful source is chosen', 'consumed': c51, 'violations': c52, 'at': (c53)."at", 'witness': (c53)."words"}]) AS uc2 FROM 
(SELECT c5, count(1) FILTER (WHERE c13) AS c42, count(1) FILTER (WHERE c14) AS c43, arg_min(CASE WHEN c14 THEN {'at': c12, 'words': c17} END, CASE WHEN c14 THEN {n0: c12 IS NOT NULL, v0: c12, n1: c17 IS NOT NULL, v1: c17} END) AS c44, count(1) FILTER (WHERE c22) AS c45, count(1) FILTER (WHERE c23) AS c46, arg_min(CASE WHEN c23 THEN {'at': c12, 'words': c26} END, CASE WHEN c23 THEN {n0: c12 IS NOT NULL, v0: c12, n1: c26 IS NOT NULL, v1: c26} END) AS c47, count(1) FILTER (WHERE c29) AS c48, count(1) FILTER (WHERE c30) AS c49, arg_min(CASE WHEN c30 THEN {'at': c12, 'words': c32} END, CASE WHEN c30 THEN {n0: c12 IS NOT NULL, v0: c12, n1: c32 IS NOT NULL, v1: c32} END) AS c50, count(1) FILTER (WHERE c34) AS c51, count(1) FILTER (WHERE c36) AS c52, arg_min(CASE WHEN c36 THEN {'at': c12, 'words': c39} END, CASE WHEN c36 THEN {n0: c12 IS NOT NULL, v0: c12, n1: c39 IS NOT NULL, v1: c39} END) AS c53 FROM 
(SELECT c5, c7 AS c12, coalesce(((c4 = 'responders.considered') AND (c11 = 'six steps')), FALSE) AS c13, CASE WHEN coalesce(((c4 = 'responders.considered') AND (c11 = 'six steps')), FALSE) THEN (NOT coalesce((c10 = list_transform(list_filter(c9, lambda v16: ((v16)."group" > (0)::BIGINT)), lambda v15: (v15)."store")), FALSE)) ELSE FALSE END AS c14, CASE WHEN CASE WHEN coalesce(((c4 = 'responders.considered') AND (c11 = 'six steps')), FALSE) THEN (NOT coalesce((c10 = list_transform(list_filter(c9, lambda v19: ((v19)."group" > (0)::BIGINT)), lambda v18: (v18)."store")), FALSE)) ELSE FALSE END THEN (c6 || ' asked ' || list_text(c10, ', ') || ' for a status, but the steps listed ' || list_text(list_transform(list_filter(c9, lambda v21: ((v21)."group" > (0)::BIGINT)), lambda v20: (v20)."store"), ', ')) END AS c17, coalesce((((c4 = 'responders.considered') AND (c11 = 'six steps')) AND (coalesce(len(c9)::INTEGER, -1) > 0)), FALSE) AS c22, CASE WHEN coalesce((((c4 = 'responders.considered') AND (c11 = 'six steps')) AND (coalesce(len(c9)::INTEGER, -1) > 0)), FALSE) THEN (NOT coalesce(list_all(list_transform(number_series(0, (coalesce(len(c9)::INTEGER, -1) - 1)), lambda v24: ((NOT ((coalesce((list_item(c9, v24))."group", (0)::BIGINT) >= (1)::BIGINT) AND (coalesce((list_item(c9, v24))."group", (0)::BIGINT) <= (6)::BIGINT))) OR (CASE WHEN ((list_item(c9, v24))."group" IN ((1)::BIGINT, (3)::BIGINT)) THEN coalesce((list_item(c9, v24))."near", FALSE) WHEN coalesce((list_item(c9, v24))."near", FALSE) THEN FALSE WHEN ((list_item(c9, v24))."group" = (2)::BIGINT) THEN (coalesce((list_item(c9, v24))."active", FALSE) AND ((list_item(c9, v24))."affinity" IS NOT NULL)) WHEN ((list_item(c9, v24))."group" = (4)::BIGINT) THEN ((list_item(c9, v24))."affinity" IS NOT NULL) WHEN ((list_item(c9, v24))."group" = (5)::BIGINT) THEN ((list_item(c9, v24))."transit_us" IS NOT NULL) ELSE TRUE END AND (NOT list_any(list_transform(list_part(c9, (v24 + 2), coalesce(len(c9)::INTEGER, -1)), lambda v25: (CASE WHEN ((list_item(c9, v24))."group" IN ((1)::BIGINT, (3)::BIGINT)) THEN coalesce((v25)."near", FALSE) WHEN coalesce((v25)."near", FALSE) THEN FALSE WHEN ((list_item(c9, v24))."group" = (2)::BIGINT) THEN (coalesce((v25)."active", FALSE) AND ((v25)."affinity" IS NOT NULL)) WHEN ((list_item(c9, v24))."group" = (4)::BIGINT) THEN ((v25)."affinity" IS NOT NULL) WHEN ((list_item(c9, v24))."group" = (5)::BIGINT) THEN ((v25)."transit_us" IS NOT NULL) ELSE TRUE END AND ({n0: ((v25)."version" = '5.5') IS NOT NULL, v0: ((v25)."version" = '5.5'), n1: (NOT coalesce((v25)."has_all", FALSE)) IS NOT NULL, v1: (NOT coalesce((v25)."has_all", FALSE)), n2: CASE WHEN ((list_item(c9, v24))."group" = (1)::BIGINT) THEN coalesce((v25)."backfilled_at", (0)::BIGINT) WHEN ((list_item(c9, v24))."group" IN ((2)::BIGINT, (4)::BIGINT)) THEN (v25)."affinity" WHEN ((list_item(c9, v24))."group" = (5)::BIGINT) THEN (v25)."transit_us" ELSE (0)::BIGINT END IS NOT NULL, v2: CASE WHEN ((list_item(c9, v24))."group" = (1)::BIGINT) THEN coalesce((v25)."backfilled_at", (0)::BIGINT) WHEN ((list_item(c9, v24))."group" IN ((2)::BIGINT, (4)::BIGINT)) THEN (v25)."affinity" WHEN ((list_item(c9, v24))."group" = (5)::BIGINT) THEN (v25)."transit_us" ELSE (0)::BIGINT END, n3: CASE WHEN ((list_item(c9, v24))."group" IN ((2)::BIGINT, (4)::BIGINT)) THEN coalesce((v25)."cost", 4611686018427387904::BIGINT) ELSE (0)::BIGINT END IS NOT NULL, v3: CASE WHEN ((list_item(c9, v24))."group" IN ((2)::BIGINT, (4)::BIGINT)) THEN coalesce((v25)."cost", 4611686018427387904::BIGINT) ELSE (0)::BIGINT END, n4: (v25)."guid" IS NOT NULL, v4: (v25)."guid"} < {n0: ((list_item(c9, v24))."version" = '5.5') IS NOT NULL, v0: ((list_item(c9, v24))."version" = '5.5'), n1: (NOT coalesce((list_item(c9, v24))."has_all", FALSE)) IS NOT NULL, v1: (NOT coalesce((list_item(c9, v24))."has_all", FALSE)), n2: CASE WHEN ((list_item(c9, v24))."group" = (1)::BIGINT) THEN coalesce((list_item(c9, v24))."backfilled_at", (0)::BIGINT) WHEN ((list_item(c9, v24))."group" IN ((2)::BIGINT, (4)::BIGINT)) THEN (list_item(c9, v24))."affinity" WHEN ((list_item(c9, v24))."group" = (5)::BIGINT) THEN (list_item(c9, v24))."transit_us" ELSE (0)::BIGINT END IS NOT NULL, v2: CASE WHEN ((list_item(c9, v24))."group" = (1)::BIGINT) THEN coalesce((list_item(c9, v24))."backfilled_at", (0)::BIGINT) WHEN ((list_item(c9, v24))."group" IN ((2)::BIGINT, (4)::BIGINT)) THEN (list_item(c9, v24))."affinity" WHEN ((list_item(c9, v24))."group" = (5)::BIGINT) THEN (list_item(c9, v24))."transit_us" ELSE (0)::BIGINT END, n3: CASE WHEN ((list_item(c9, v24))."group" IN ((2)::BIGINT, (4)::BIGINT)) THEN coalesce((list_item(c9, v24))."cost", 4611686018427387904::BIGINT) ELSE (0)::BIGINT END IS NOT NULL, v3: CASE WHEN ((list_item(c9, v24))."group" IN ((2)::BIGINT, (4)::BIGINT)) THEN coalesce((list_item(c9, v24))."cost", 4611686018427387904::BIGINT) ELSE (0)::BIGINT END, n4: (list_item(c9, v24))."guid" IS NOT NULL, v4: (list_item(c9, v24))."guid"}))))))))), FALSE)) ELSE FALSE END AS c23, CASE WHEN CASE WHEN coalesce((((c4 = 'responders.considered') AND (c11 = 'six steps')) AND (coalesce(len(c9)::INTEGER, -1) > 0)), FALSE) THEN (NOT coalesce(list_all(list_transform(number_series(0, (coalesce(len(c9)::INTEGER, -1) - 1)), lambda v27: ((NOT ((coalesce((list_item(c9, v27))."group", (0)::BIGINT) >= (1)::BIGINT) AND (coalesce((list_item(c9, v27))."group", (0)::BIGINT) <= (6)::BIGINT))) OR (CASE WHEN ((list_item(c9, v27))."group" IN ((1)::BIGINT, (3)::BIGINT)) THEN coalesce((list_item(c9, v27))."near", FALSE) WHEN coalesce((list_item(c9, v27))."near", FALSE) THEN FALSE WHEN ((list_item(c9, v27))."group" = (2)::BIGINT) THEN (coalesce((list_item(c9, v27))."active", FALSE) AND ((list_item(c9, v27))."affinity" IS NOT NULL)) WHEN ((list_item(c9, v27))."group" = (4)::BIGINT) THEN ((list_item(c9, v27))."affinity" IS NOT NULL) WHEN ((list_item(c9, v27))."group" = (5)::BIGINT) THEN ((list_item(c9, v27))."transit_us" IS NOT NULL) ELSE TRUE END AND (NOT list_any(list_transform(list_part(c9, (v27 + 2), coalesce(len(c9)::INTEGER, -1)), lambda v28: (CASE WHEN ((list_item(c9, v27))."group" IN ((1)::BIGINT, (3)::BIGINT)) THEN coalesce((v28)."near", FALSE) WHEN coalesce((v28)."near", FALSE) THEN FALSE WHEN ((list_item(c9, v27))."group" = (2)::BIGINT) THEN (coalesce((v28)."active", FALSE) AND ((v28)."affinity" IS NOT NULL)) WHEN ((list_item(c9, v27))."group" = (4)::BIGINT) THEN ((v28)."affinity" IS NOT NULL) WHEN ((list_item(c9, v27))."group" = (5)::BIGINT) THEN ((v28)."transit_us" IS NOT NULL) ELSE TRUE END AND ({n0: ((v28)."version" = '5.5') IS NOT NULL, v0: ((v28)."version" = '5.5'), n1: (NOT coalesce((v28)."has_all", FALSE)) IS NOT NULL, v1: (NOT coalesce((v28)."has_all", FALSE)), n2: CASE WHEN ((list_item(c9, v27))."group" = (1)::BIGINT) THEN coalesce((v28)."backfilled_at", (0)::BIGINT) WHEN ((list_item(c9, v27))."group" IN ((2)::BIGINT, (4)::BIGINT)) THEN (v28)."affinity" WHEN ((list_item(c9, v27))."group" = (5)::BIGINT) THEN (v28)."transit_us" ELSE (0)::BIGINT END IS NOT NULL, v2: CASE WHEN ((list_item(c9, v27))."group" = (1)::BIGINT) THEN coalesce((v28)."backfilled_at", (0)::BIGINT) WHEN ((list_item(c9, v27))."group" IN ((2)::BIGINT, (4)::BIGINT)) THEN (v28)."affinity" WHEN ((list_item(c9, v27))."group" = (5)::BIGINT) THEN (v28)."transit_us" ELSE (0)::BIGINT END, n3: CASE WHEN ((list_item(c9, v27))."group" IN ((2)::BIGINT, (4)::BIGINT)) THEN coalesce((v28)."cost", 4611686018427387904::BIGINT) ELSE (0)::BIGINT END IS NOT NULL, v3: CASE WHEN ((list_item(c9, v27))."group" IN ((2)::BIGINT, (4)::BIGINT)) THEN coalesce((v28)."cost", 4611686018427387904::BIGINT) ELSE (0)::BIGINT END, n4: (v28)."guid" IS NOT NULL, v4: (v28)."guid"} < {n0: ((list_item(c9, v27))."version" = '5.5') IS NOT NULL, v0: ((list_item(c9, v27))."version" = '5.5'), n1: (NOT coalesce((list_item(c9, v27))."has_all", FALSE)) IS NOT NULL, v1: (NOT coalesce((list_item(c9, v27))."has_all", FALSE)), n2: CASE WHEN ((list_item(c9, v27))."group" = (1)::BIGINT) THEN coalesce((list_item(c9, v27))."backfilled_at", (0)::BIGINT) WHEN ((list_item(c9, v27))."group" IN ((2)::BIGINT, (4)::BIGINT)) THEN (list_item(c9, v27))."affinity" WHEN ((list_item(c9, v27))."group" = (5)::BIGINT) THEN (list_item(c9, v27))."transit_us" ELSE (0)::BIGINT END IS NOT NULL, v2: CASE WHEN ((list_item(c9, v27))."group" = (1)::BIGINT) THEN coalesce((list_item(c9, v27))."backfilled_at", (0)::BIGINT) WHEN ((list_item(c9, v27))."group" IN ((2)::BIGINT, (4)::BIGINT)) THEN (list_item(c9, v27))."affinity" WHEN ((list_item(c9, v27))."group" = (5)::BIGINT) THEN (list_item(c9, v27))."transit_us" ELSE (0)::BIGINT END, n3: CASE WHEN ((list_item(c9, v27))."group" IN ((2)::BIGINT, (4)::BIGINT)) THEN coalesce((list_item(c9, v27))."cost", 4611686018427387904::BIGINT) ELSE (0)::BIGINT END IS NOT NULL, v3: CASE WHEN ((list_item(c9, v27))."group" IN ((2)::BIGINT, (4)::BIGINT)) THEN coalesce((list_item(c9, v27))."cost", 4611686018427387904::BIGINT) ELSE (0)::BIGINT END, n4: (list_item(c9, v27))."guid" IS NOT NULL, v4: (list_item(c9, v27))."guid"}))))))))), FALSE)) ELSE FALSE END THEN (c6 || ' asked ' || list_text(c10, ', ') || ' for a status, but another store comes first in one of the six steps') END AS c26, coalesce((((c4 = 'sources.considered') AND (coalesce(len(c9)::INTEGER, -1) > 1)) AND (coalesce(c11, '') IN ('', 'sorted list'))), FALSE) AS c29, CASE WHEN coalesce((((c4 = 'sources.considered') AND (coalesce(len(c9)::INTEGER, -1) > 1)) AND (coalesce(c11, '') IN ('', 'sorted list'))), FALSE) THEN (NOT coalesce(list_all(list_transform(number_series(1, (coalesce(len(c9)::INTEGER, -1) - 1)), lambda v31: ({n0: (list_item(c9, (v31 - 1)))."down" IS NOT NULL, v0: (list_item(c9, (v31 - 1)))."down", n1: coalesce((list_item(c9, (v31 - 1)))."leaving", FALSE) IS NOT NULL, v1: coalesce((list_item(c9, (v31 - 1)))."leaving", FALSE), n2: (NOT (list_item(c9, (v31 - 1)))."preferred") IS NOT NULL, v2: (NOT (list_item(c9, (v31 - 1)))."preferred"), n3: coalesce((list_item(c9, (v31 - 1)))."cost", 9223372036854775807::BIGINT) IS NOT NULL, v3: coalesce((list_item(c9, (v31 - 1)))."cost", 9223372036854775807::BIGINT), n4: (-text_to_double((list_item(c9, (v31 - 1)))."version")) IS NOT NULL, v4: (-text_to_double((list_item(c9, (v31 - 1)))."version")), n5: subtract_wrapped(0, (list_item(c9, (v31 - 1)))."has") IS NOT NULL, v5: subtract_wrapped(0, (list_item(c9, (v31 - 1)))."has")} <= {n0: (list_item(c9, v31))."down" IS NOT NULL, v0: (list_item(c9, v31))."down", n1: coalesce((list_item(c9, v31))."leaving", FALSE) IS NOT NULL, v1: coalesce((list_item(c9, v31))."leaving", FALSE), n2: (NOT (list_item(c9, v31))."preferred") IS NOT NULL, v2: (NOT (list_item(c9, v31))."preferred"), n3: coalesce((list_item(c9, v31))."cost", 9223372036854775807::BIGINT) IS NOT NULL, v3: coalesce((list_item(c9, v31))."cost", 9223372036854775807::BIGINT), n4: (-text_to_double((list_item(c9, v31))."version")) IS NOT NULL, v4: (-text_to_double((list_item(c9, v31))."version")), n5: subtract_wrapped(0, (list_item(c9, v31))."has") IS NOT NULL, v5: subtract_wrapped(0, (list_item(c9, v31))."has")}))), FALSE)) ELSE FALSE END AS c30, CASE WHEN CASE WHEN coalesce((((c4 = 'sources.considered') AND (coalesce(len(c9)::INTEGER, -1) > 1)) AND (coalesce(c11, '') IN ('', 'sorted list'))), FALSE) THEN (NOT coalesce(list_all(list_transform(number_series(1, (coalesce(len(c9)::INTEGER, -1) - 1)), lambda v33: ({n0: (list_item(c9, (v33 - 1)))."down" IS NOT NULL, v0: (list_item(c9, (v33 - 1)))."down", n1: coalesce((list_item(c9, (v33 - 1)))."leaving", FALSE) IS NOT NULL, v1: coalesce((list_item(c9, (v33 - 1)))."leaving", FALSE), n2: (NOT (list_item(c9, (v33 - 1)))."preferred") IS NOT NULL, v2: (NOT (list_item(c9, (v33 - 1)))."preferred"), n3: coalesce((list_item(c9, (v33 - 1)))."cost", 9223372036854775807::BIGINT) IS NOT NULL, v3: coalesce((list_item(c9, (v33 - 1)))."cost", 9223372036854775807::BIGINT), n4: (-text_to_double((list_item(c9, (v33 - 1)))."version")) IS NOT NULL, v4: (-text_to_double((list_item(c9, (v33 - 1)))."version")), n5: subtract_wrapped(0, (list_item(c9, (v33 - 1)))."has") IS NOT NULL, v5: subtract_wrapped(0, (list_item(c9, (v33 - 1)))."has")} <= {n0: (list_item(c9, v33))."down" IS NOT NULL, v0: (list_item(c9, v33))."down", n1: coalesce((list_item(c9, v33))."leaving", FALSE) IS NOT NULL, v1: coalesce((list_item(c9, v33))."leaving", FALSE), n2: (NOT (list_item(c9, v33))."preferred") IS NOT NULL, v2: (NOT (list_item(c9, v33))."preferred"), n3: coalesce((list_item(c9, v33))."cost", 9223372036854775807::BIGINT) IS NOT NULL, v3: coalesce((list_item(c9, v33))."cost", 9223372036854775807::BIGINT), n4: (-text_to_double((list_item(c9, v33))."version")) IS NOT NULL, v4: (-text_to_double((list_item(c9, v33))."version")), n5: subtract_wrapped(0, (list_item(c9, v33))."has") IS NOT NULL, v5: subtract_wrapped(0, (list_item(c9, v33))."has")}))), FALSE)) ELSE FALSE END THEN (c6 || ' sorted the sources of entry ' || (c8)::VARCHAR || ' wrongly') END AS c32, coalesce((((c4 = 'sources.considered') AND (coalesce(c11, '') IN ('', 'sorted list'))) AND list_any(list_transform(c9, lambda v35: ((((v35)."has" > (0)::BIGINT) AND (NOT ((coalesce((v35)."passed_over", '') LIKE '%address%' ESCAPE '\') OR (coalesce((v35)."passed_over", '') LIKE '%folder tree%' ESCAPE '\')))) AND ((v35)."cost" IS NOT NULL))))), FALSE) AS c34, CASE WHEN coalesce((((c4 = 'sources.considered') AND (coalesce(c11, '') IN ('', 'sorted list'))) AND list_any(list_transform(c9, lambda v37: ((((v37)."has" > (0)::BIGINT) AND (NOT ((coalesce((v37)."passed_over", '') LIKE '%address%' ESCAPE '\') OR (coalesce((v37)."passed_over", '') LIKE '%folder tree%' ESCAPE '\')))) AND ((v37)."cost" IS NOT NULL))))), FALSE) THEN (NOT coalesce((list_item(c10, 0) = (list_item(list_filter(c9, lambda v38: ((((v38)."has" > (0)::BIGINT) AND (NOT ((coalesce((v38)."passed_over", '') LIKE '%address%' ESCAPE '\') OR (coalesce((v38)."passed_over", '') LIKE '%folder tree%' ESCAPE '\')))) AND ((v38)."cost" IS NOT NULL))), 0))."store"), FALSE)) ELSE FALSE END AS c36, CASE WHEN CASE WHEN coalesce((((c4 = 'sources.considered') AND (coalesce(c11, '') IN ('', 'sorted list'))) AND list_any(list_transform(c9, lambda v40: ((((v40)."has" > (0)::BIGINT) AND (NOT ((coalesce((v40)."passed_over", '') LIKE '%address%' ESCAPE '\') OR (coalesce((v40)."passed_over", '') LIKE '%folder tree%' ESCAPE '\')))) AND ((v40)."cost" IS NOT NULL))))), FALSE) THEN (NOT coalesce((list_item(c10, 0) = (list_item(list_filter(c9, lambda v41: ((((v41)."has" > (0)::BIGINT) AND (NOT ((coalesce((v41)."passed_over", '') LIKE '%address%' ESCAPE '\') OR (coalesce((v41)."passed_over", '') LIKE '%folder tree%' ESCAPE '\')))) AND ((v41)."cost" IS NOT NULL))), 0))."store"), FALSE)) ELSE FALSE END THEN (c6 || ' did not choose the first useful source of entry ' || (c8)::VARCHAR) END AS c39 FROM 
(SELECT c5, c4, c6, c7, c8, c9, c10, c11 FROM 
(SELECT "trace" AS c5, "node" AS c6, "type" AS c4, "at" AS c7, "entry" AS c8, "candidates" AS c9, "chosen" AS c10, "method" AS c11, "family" AS c3 FROM "silver/events") WHERE ((c3 IN ('replication')) AND (c4 IN ('sources.considered', 'responders.considered'))))) GROUP BY c5))))) WHERE (c1 > (0)::BIGINT));

-- table rules/status_claims needs row.replaced
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c5 AS "trace", c185 AS "check", c1 AS "consumed", c186 AS "violations", c187 AS "at", c188 AS "witness" FROM (SELECT * FROM 
(SELECT c5, (c2)."check" AS c185, (c2)."consumed" AS c1, (c2)."violations" AS c186, (c2)."at" AS c187, (c2)."witness" AS c188 FROM 
(SELECT c5, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'changes that a status shows are recorded', 'consumed': c182, 'violations': c183, 'at': (c184)."at", 'witness': (c184)."words"}]) AS uc2 FROM 
(SELECT c5, count(1) FILTER (WHERE c179) AS c182, count(1) FILTER (WHERE c180) AS c183, arg_min(CASE WHEN c180 THEN {'at': c178, 'words': c181} END, CASE WHEN c180 THEN {n0: c178 IS NOT NULL, v0: c178, n1: c181 IS NOT NULL, v1: c181} END) AS c184 FROM 
(SELECT c5, c108 AS c178, coalesce(TRUE, FALSE) AS c179, CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce(c111, FALSE)) ELSE FALSE END AS c180, CASE WHEN CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce(c111, FALSE)) ELSE FALSE END THEN (c107 || ' lacks ' || c110 || ' of ' || ('folder=' || c6) || ', which a status of ' || c109 || ' claimed, but does not wait for it') END AS c181 FROM 
(SELECT c5 AS c5, c6 AS c6, c107 AS c107, c108 AS c108, c109 AS c109, c110 AS c110, c111 AS c111 FROM 
(SELECT c5, c6, (c3)."node" AS c107, (c3)."at" AS c108, (c3)."sender" AS c109, (c3)."number" AS c110, (c3)."noted" AS c111 FROM 
(SELECT c5, c6, c3 FROM 
(SELECT * EXCLUDE (uc3), uc3 AS c3 FROM (SELECT *, unnest(flatten(list_transform(c94, lambda v100: list_transform(list_filter(list_filter(c9, lambda v103: ((((v103)."act" = 'made') AND (NOT ((v103)."store" = 'Setup'))) AND (NOT (v103)."undone"))), lambda v102: (list_any(list_transform((v100)."row", lambda v104: (((v104)."guid" = CASE WHEN ((v102)."kind" = 'fai') THEN ((v102)."guid" || ' fai') ELSE (v102)."guid" END) AND (((v102)."counter" >= (v104)."low") AND ((v102)."counter" <= (v104)."high"))))) AND (NOT list_any(list_transform(c9, lambda v105: ((((v105)."store" = (v100)."node") AND (NOT ((v105)."act" = 'tombstone dropped'))) AND (((v105)."at" <= (v100)."at") AND ((((v105)."number" = (v102)."number") OR (v105)."deleted") OR ((coalesce((map_extract_value((v105)."pcl", (v102)."guid") >= (v102)."counter"), FALSE) AND (NOT list_contains_or_null(coalesce((v105)."rivals", CAST([] AS VARCHAR[])), (v102)."number"))) OR (c8 AND ({n0: (v105)."modified_at" IS NOT NULL, v0: (v105)."modified_at", n1: (v105)."guid" IS NOT NULL, v1: (v105)."guid", n2: (v105)."counter" IS NOT NULL, v2: (v105)."counter"} > {n0: (v102)."modified_at" IS NOT NULL, v0: (v102)."modified_at", n1: (v102)."guid" IS NOT NULL, v1: (v102)."guid", n2: (v102)."counter" IS NOT NULL, v2: (v102)."counter"}))))))))))), lambda v101: {'node': (v100)."node", 'at': (v100)."at", 'sender': (v100)."sender", 'number': (v101)."number", 'noted': list_any(list_transform((v100)."noted", lambda v106: (((v106)."guid" = CASE WHEN ((v101)."kind" = 'fai') THEN ((v101)."guid" || ' fai') ELSE (v101)."guid" END) AND (((v101)."counter" >= (v106)."low") AND ((v101)."counter" <= (v106)."high")))))})))) AS uc3 FROM 
(SELECT c5, c6, c8, c9, c94 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c5, c6, c7, c8, c9, c94 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT "trace" AS c5, "folder" AS c6, "object" AS c7, "alone" AS c8, "forgotten" AS c4, "rows" AS c9 FROM "evidence/objects") WHERE (NOT c4)) JOIN 
(SELECT * FROM 
(SELECT c16, c19, coalesce(list(c91) FILTER (WHERE c91 IS NOT NULL), []) AS c94 FROM 
(SELECT c16, c19, {'node': c14, 'sender': c20, 'at': (c10)."at", 'row': (c10)."row", 'noted': list_flattened(list_transform(list_filter(coalesce(c90, CAST([] AS STRUCT("at" BIGINT, "ranges" STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[])[])), lambda v93: ((v93)."at" <= (c10)."at")), lambda v92: (v92)."ranges"))} AS c91 FROM 
(SELECT c16, c14, c19, c20, c10, c90 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c16, c14, c19, c20, c10 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c16, c14, c19, c20, c10 FROM 
(SELECT * EXCLUDE (uc10), uc10 AS c10 FROM (SELECT *, unnest(c37) AS uc10 FROM 
(SELECT c16, c14, c19, c20, list_part(list_reverse(list_transform(list_sort(list_transform(coalesce(list({'at': c36, 'row': c29}), []), lambda v38: {k: CASE WHEN v38 IS NOT NULL THEN {n0: (v38)."at" IS NOT NULL, v0: (v38)."at", n1: (v38)."row" IS NOT NULL, v1: list_transform((v38)."row", lambda v38row_item: CASE WHEN v38row_item IS NOT NULL THEN {n0: (v38row_item)."guid" IS NOT NULL, v0: (v38row_item)."guid", n1: (v38row_item)."low" IS NOT NULL, v1: (v38row_item)."low", n2: (v38row_item)."high" IS NOT NULL, v2: (v38row_item)."high"} END)} END, v: v38}), 'ASC', 'NULLS LAST'), lambda v38: v38.v)), 1, 8) AS c37 FROM 
(SELECT c16, c14, c19, c20, c29, min(c17) AS c36 FROM 
(SELECT c16, c14, c19, c17, c20, c29 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c16, c14, c17, c19, c18, c20 FROM 
(SELECT "trace" AS c16, "node" AS c14, "at" AS c17, "mail" AS c18, "message_type" AS c12, "folder" AS c19, "what" AS c11, "sender" AS c20, "holders" AS c13, "dead" AS c15 FROM "evidence/listed") WHERE (((c11 = 'received') AND (c12 = (16)::BIGINT)) AND (list_contains_or_null(c13, c14) AND (NOT c15))))) JOIN 
(SELECT * FROM 
(SELECT c23, c24, c25, c26, (list_flattened(list_transform(list_filter(str_split(c27, ';'), lambda v31: (NOT (v31 = ''))), lambda v30: list_transform(str_split(split_part(v30, ':', 2), ','), lambda v32: {'guid': CASE WHEN ('message' = 'fai') THEN (split_part(v30, ':', 1) || ' fai') ELSE split_part(v30, ':', 1) END, 'low': text_to_bigint(split_part(v32, '-', 1)), 'high': text_to_bigint(split_part(v32, '-', (-1)))}))) || list_flattened(list_transform(list_filter(str_split(c28, ';'), lambda v34: (NOT (v34 = ''))), lambda v33: list_transform(str_split(split_part(v33, ':', 2), ','), lambda v35: {'guid': CASE WHEN ('fai' = 'fai') THEN (split_part(v33, ':', 1) || ' fai') ELSE split_part(v33, ':', 1) END, 'low': text_to_bigint(split_part(v35, '-', 1)), 'high': text_to_bigint(split_part(v35, '-', (-1)))})))) AS c29 FROM 
(SELECT c23, c24, c25, c26, c27, c28 FROM 
(SELECT "trace" AS c23, "node" AS c24, "type" AS c22, "mail" AS c25, "folder" AS c26, "cnset" AS c27, "cnset_fai" AS c28, "family" AS c21 FROM "silver/events") WHERE ((c21 IN ('replication')) AND (c22 IN ('row.replaced')))))) ON ((((c16 = c23) AND (c14 = c24)) AND (c18 = c25)) AND (c19 = c26)))) GROUP BY c16, c14, c19, c20, c29) GROUP BY c16, c14, c19, c20))))) ANTI JOIN 
(SELECT * FROM 
(SELECT DISTINCT c39, c40, c41 FROM 
(SELECT c39, c40, c41 FROM 
(SELECT c39, c40, c41 FROM 
(SELECT "trace" AS c39, "node" AS c40, "type" AS c43, "folder" AS c41, "family" AS c42 FROM "silver/events") WHERE ((c42 IN ('replication')) AND (c43 IN ('replica.dropped'))))))) ON (((c16 = c39) AND (c14 = c40)) AND (c19 = c41))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c46, c47, c49, coalesce(list({'at': c48, 'ranges': c52}), []) AS c90 FROM 
(SELECT c46 AS c46, c47 AS c47, c49 AS c49, c48 AS c48, c52 AS c52 FROM 
(SELECT c46, c47, c49, c48, (list_flattened(list_transform(list_filter(str_split(c50, ';'), lambda v54: (NOT (v54 = ''))), lambda v53: list_transform(str_split(split_part(v53, ':', 2), ','), lambda v55: {'guid': CASE WHEN ('message' = 'fai') THEN (split_part(v53, ':', 1) || ' fai') ELSE split_part(v53, ':', 1) END, 'low': text_to_bigint(split_part(v55, '-', 1)), 'high': text_to_bigint(split_part(v55, '-', (-1)))}))) || list_flattened(list_transform(list_filter(str_split(c51, ';'), lambda v57: (NOT (v57 = ''))), lambda v56: list_transform(str_split(split_part(v56, ':', 2), ','), lambda v58: {'guid': CASE WHEN ('fai' = 'fai') THEN (split_part(v56, ':', 1) || ' fai') ELSE split_part(v56, ':', 1) END, 'low': text_to_bigint(split_part(v58, '-', 1)), 'high': text_to_bigint(split_part(v58, '-', (-1)))})))) AS c52 FROM 
(SELECT c46, c47, c48, c49, c50, c51 FROM 
(SELECT "trace" AS c46, "node" AS c47, "type" AS c45, "at" AS c48, "folder" AS c49, "cnset" AS c50, "cnset_fai" AS c51, "family" AS c44 FROM "silver/events") WHERE ((c44 IN ('replication')) AND (c45 IN ('entry.made')))))
UNION ALL SELECT c61 AS c46, c62 AS c47, c65 AS c49, c63 AS c48, c67 AS c52 FROM 
(SELECT c61, c62, c65, c63, c67 FROM 
(SELECT c61, c62, c65, c63, list_flattened(list_transform(list_filter(str_split(c66, ';'), lambda v69: (NOT (v69 = ''))), lambda v68: list_transform(str_split(split_part(v68, ':', 2), ','), lambda v70: {'guid': CASE WHEN (c64 = 'fai') THEN (split_part(v68, ':', 1) || ' fai') ELSE split_part(v68, ':', 1) END, 'low': text_to_bigint(split_part(v70, '-', 1)), 'high': text_to_bigint(split_part(v70, '-', (-1)))}))) AS c67 FROM 
(SELECT c61, c62, c63, c65, c64, c66 FROM 
(SELECT "trace" AS c61, "node" AS c62, "type" AS c60, "at" AS c63, "kind" AS c64, "folder" AS c65, "stands_for" AS c66, "family" AS c59 FROM "silver/events") WHERE ((c59 IN ('change')) AND (c60 IN ('version.held'))))))
UNION ALL SELECT c73 AS c46, c87 AS c47, c75 AS c49, c88 AS c48, c89 AS c52 FROM 
(SELECT c73, c87, c75, c88, c89 FROM 
(SELECT c73, c78 AS c87, c75, (0)::BIGINT AS c88, c86 AS c89 FROM 
(SELECT c73, c78, c75, flatten(coalesce(list(c79) FILTER (WHERE c79 IS NOT NULL), [])) AS c86 FROM 
(SELECT c73, c74 AS c78, c75, (list_flattened(list_transform(list_filter(str_split(c76, ';'), lambda v81: (NOT (v81 = ''))), lambda v80: list_transform(str_split(split_part(v80, ':', 2), ','), lambda v82: {'guid': CASE WHEN ('message' = 'fai') THEN (split_part(v80, ':', 1) || ' fai') ELSE split_part(v80, ':', 1) END, 'low': text_to_bigint(split_part(v82, '-', 1)), 'high': text_to_bigint(split_part(v82, '-', (-1)))}))) || list_flattened(list_transform(list_filter(str_split(c77, ';'), lambda v84: (NOT (v84 = ''))), lambda v83: list_transform(str_split(split_part(v83, ':', 2), ','), lambda v85: {'guid': CASE WHEN ('fai' = 'fai') THEN (split_part(v83, ':', 1) || ' fai') ELSE split_part(v83, ':', 1) END, 'low': text_to_bigint(split_part(v85, '-', 1)), 'high': text_to_bigint(split_part(v85, '-', (-1)))})))) AS c79 FROM 
(SELECT c73, c74, c75, c76, c77 FROM 
(SELECT "trace" AS c73, "node" AS c74, "type" AS c72, "folder" AS c75, "cnset" AS c76, "cnset_fai" AS c77, "family" AS c71 FROM "silver/events") WHERE ((c71 IN ('replication')) AND (c72 IN ('expired.everywhere'))))) GROUP BY c73, c78, c75)))) GROUP BY c46, c47, c49)) ON (((c16 = c46) AND (c14 = c47)) AND (c19 = c49))))) GROUP BY c16, c19)) ON ((c5 = c16) AND (c6 = c19))))) ANTI JOIN 
(SELECT * FROM 
(SELECT DISTINCT c95, c96, c97 FROM 
(SELECT c95, c96, c97 FROM 
(SELECT c95, c96, c97 FROM 
(SELECT "trace" AS c95, "type" AS c99, "folder" AS c96, "object" AS c97, "family" AS c98 FROM "silver/events") WHERE ((c98 IN ('change')) AND (c99 IN ('item.expired'))))))) ON (((c5 = c95) AND (c6 = c96)) AND (c7 = c97))))))))
UNION ALL SELECT c118 AS c5, c121 AS c6, c173 AS c107, c174 AS c108, c175 AS c109, c176 AS c110, c177 AS c111 FROM 
(SELECT c118, c121, c173, c174, c175, c176, c177 FROM 
(SELECT c118, c121, (c172)."node" AS c173, (c172)."at" AS c174, (c172)."sender" AS c175, CAST(NULL AS VARCHAR) AS c176, TRUE AS c177 FROM 
(SELECT c118, c121, {'node': c116, 'sender': c122, 'at': (c112)."at", 'row': (c112)."row", 'noted': list_flattened(list_transform(list_filter(coalesce(c171, CAST([] AS STRUCT("at" BIGINT, "ranges" STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[])[])), lambda v93: ((v93)."at" <= (c112)."at")), lambda v92: (v92)."ranges"))} AS c172 FROM 
(SELECT c118, c116, c121, c122, c112, c171 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c118, c116, c121, c122, c112 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c118, c116, c121, c122, c112 FROM 
(SELECT * EXCLUDE (uc112), uc112 AS c112 FROM (SELECT *, unnest(c133) AS uc112 FROM 
(SELECT c118, c116, c121, c122, list_part(list_reverse(list_transform(list_sort(list_transform(coalesce(list({'at': c132, 'row': c131}), []), lambda v134: {k: CASE WHEN v134 IS NOT NULL THEN {n0: (v134)."at" IS NOT NULL, v0: (v134)."at", n1: (v134)."row" IS NOT NULL, v1: list_transform((v134)."row", lambda v134row_item: CASE WHEN v134row_item IS NOT NULL THEN {n0: (v134row_item)."guid" IS NOT NULL, v0: (v134row_item)."guid", n1: (v134row_item)."low" IS NOT NULL, v1: (v134row_item)."low", n2: (v134row_item)."high" IS NOT NULL, v2: (v134row_item)."high"} END)} END, v: v134}), 'ASC', 'NULLS LAST'), lambda v134: v134.v)), 1, 8) AS c133 FROM 
(SELECT c118, c116, c121, c122, c131, min(c119) AS c132 FROM 
(SELECT c118, c116, c121, c119, c122, c131 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c118, c116, c119, c121, c120, c122 FROM 
(SELECT "trace" AS c118, "node" AS c116, "at" AS c119, "mail" AS c120, "message_type" AS c114, "folder" AS c121, "what" AS c113, "sender" AS c122, "holders" AS c115, "dead" AS c117 FROM "evidence/listed") WHERE (((c113 = 'received') AND (c114 = (16)::BIGINT)) AND (list_contains_or_null(c115, c116) AND (NOT c117))))) JOIN 
(SELECT * FROM 
(SELECT c125, c126, c127, c128, (list_flattened(list_transform(list_filter(str_split(c129, ';'), lambda v31: (NOT (v31 = ''))), lambda v30: list_transform(str_split(split_part(v30, ':', 2), ','), lambda v32: {'guid': CASE WHEN ('message' = 'fai') THEN (split_part(v30, ':', 1) || ' fai') ELSE split_part(v30, ':', 1) END, 'low': text_to_bigint(split_part(v32, '-', 1)), 'high': text_to_bigint(split_part(v32, '-', (-1)))}))) || list_flattened(list_transform(list_filter(str_split(c130, ';'), lambda v34: (NOT (v34 = ''))), lambda v33: list_transform(str_split(split_part(v33, ':', 2), ','), lambda v35: {'guid': CASE WHEN ('fai' = 'fai') THEN (split_part(v33, ':', 1) || ' fai') ELSE split_part(v33, ':', 1) END, 'low': text_to_bigint(split_part(v35, '-', 1)), 'high': text_to_bigint(split_part(v35, '-', (-1)))})))) AS c131 FROM 
(SELECT c125, c126, c127, c128, c129, c130 FROM 
(SELECT "trace" AS c125, "node" AS c126, "type" AS c124, "mail" AS c127, "folder" AS c128, "cnset" AS c129, "cnset_fai" AS c130, "family" AS c123 FROM "silver/events") WHERE ((c123 IN ('replication')) AND (c124 IN ('row.replaced')))))) ON ((((c118 = c125) AND (c116 = c126)) AND (c120 = c127)) AND (c121 = c128)))) GROUP BY c118, c116, c121, c122, c131) GROUP BY c118, c116, c121, c122))))) ANTI JOIN 
(SELECT * FROM 
(SELECT DISTINCT c135, c136, c137 FROM 
(SELECT c135, c136, c137 FROM 
(SELECT c135, c136, c137 FROM 
(SELECT "trace" AS c135, "node" AS c136, "type" AS c139, "folder" AS c137, "family" AS c138 FROM "silver/events") WHERE ((c138 IN ('replication')) AND (c139 IN ('replica.dropped'))))))) ON (((c118 = c135) AND (c116 = c136)) AND (c121 = c137))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c142, c143, c145, coalesce(list({'at': c144, 'ranges': c148}), []) AS c171 FROM 
(SELECT c142 AS c142, c143 AS c143, c145 AS c145, c144 AS c144, c148 AS c148 FROM 
(SELECT c142, c143, c145, c144, (list_flattened(list_transform(list_filter(str_split(c146, ';'), lambda v54: (NOT (v54 = ''))), lambda v53: list_transform(str_split(split_part(v53, ':', 2), ','), lambda v55: {'guid': CASE WHEN ('message' = 'fai') THEN (split_part(v53, ':', 1) || ' fai') ELSE split_part(v53, ':', 1) END, 'low': text_to_bigint(split_part(v55, '-', 1)), 'high': text_to_bigint(split_part(v55, '-', (-1)))}))) || list_flattened(list_transform(list_filter(str_split(c147, ';'), lambda v57: (NOT (v57 = ''))), lambda v56: list_transform(str_split(split_part(v56, ':', 2), ','), lambda v58: {'guid': CASE WHEN ('fai' = 'fai') THEN (split_part(v56, ':', 1) || ' fai') ELSE split_part(v56, ':', 1) END, 'low': text_to_bigint(split_part(v58, '-', 1)), 'high': text_to_bigint(split_part(v58, '-', (-1)))})))) AS c148 FROM 
(SELECT c142, c143, c144, c145, c146, c147 FROM 
(SELECT "trace" AS c142, "node" AS c143, "type" AS c141, "at" AS c144, "folder" AS c145, "cnset" AS c146, "cnset_fai" AS c147, "family" AS c140 FROM "silver/events") WHERE ((c140 IN ('replication')) AND (c141 IN ('entry.made')))))
UNION ALL SELECT c151 AS c142, c152 AS c143, c155 AS c145, c153 AS c144, c157 AS c148 FROM 
(SELECT c151, c152, c155, c153, c157 FROM 
(SELECT c151, c152, c155, c153, list_flattened(list_transform(list_filter(str_split(c156, ';'), lambda v69: (NOT (v69 = ''))), lambda v68: list_transform(str_split(split_part(v68, ':', 2), ','), lambda v70: {'guid': CASE WHEN (c154 = 'fai') THEN (split_part(v68, ':', 1) || ' fai') ELSE split_part(v68, ':', 1) END, 'low': text_to_bigint(split_part(v70, '-', 1)), 'high': text_to_bigint(split_part(v70, '-', (-1)))}))) AS c157 FROM 
(SELECT c151, c152, c153, c155, c154, c156 FROM 
(SELECT "trace" AS c151, "node" AS c152, "type" AS c150, "at" AS c153, "kind" AS c154, "folder" AS c155, "stands_for" AS c156, "family" AS c149 FROM "silver/events") WHERE ((c149 IN ('change')) AND (c150 IN ('version.held'))))))
UNION ALL SELECT c160 AS c142, c168 AS c143, c162 AS c145, c169 AS c144, c170 AS c148 FROM 
(SELECT c160, c168, c162, c169, c170 FROM 
(SELECT c160, c165 AS c168, c162, (0)::BIGINT AS c169, c167 AS c170 FROM 
(SELECT c160, c165, c162, flatten(coalesce(list(c166) FILTER (WHERE c166 IS NOT NULL), [])) AS c167 FROM 
(SELECT c160, c161 AS c165, c162, (list_flattened(list_transform(list_filter(str_split(c163, ';'), lambda v81: (NOT (v81 = ''))), lambda v80: list_transform(str_split(split_part(v80, ':', 2), ','), lambda v82: {'guid': CASE WHEN ('message' = 'fai') THEN (split_part(v80, ':', 1) || ' fai') ELSE split_part(v80, ':', 1) END, 'low': text_to_bigint(split_part(v82, '-', 1)), 'high': text_to_bigint(split_part(v82, '-', (-1)))}))) || list_flattened(list_transform(list_filter(str_split(c164, ';'), lambda v84: (NOT (v84 = ''))), lambda v83: list_transform(str_split(split_part(v83, ':', 2), ','), lambda v85: {'guid': CASE WHEN ('fai' = 'fai') THEN (split_part(v83, ':', 1) || ' fai') ELSE split_part(v83, ':', 1) END, 'low': text_to_bigint(split_part(v85, '-', 1)), 'high': text_to_bigint(split_part(v85, '-', (-1)))})))) AS c166 FROM 
(SELECT c160, c161, c162, c163, c164 FROM 
(SELECT "trace" AS c160, "node" AS c161, "type" AS c159, "folder" AS c162, "cnset" AS c163, "cnset_fai" AS c164, "family" AS c158 FROM "silver/events") WHERE ((c158 IN ('replication')) AND (c159 IN ('expired.everywhere'))))) GROUP BY c160, c165, c162)))) GROUP BY c142, c143, c145)) ON (((c118 = c142) AND (c116 = c143)) AND (c121 = c145))))))))) GROUP BY c5))))) WHERE (c1 > (0)::BIGINT));

-- table rules/nightly_statuses needs setting.value
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c7 AS "trace", c56 AS "check", c1 AS "consumed", c57 AS "violations", c58 AS "at", c59 AS "witness" FROM (SELECT * FROM 
(SELECT c7, (c2)."check" AS c56, (c2)."consumed" AS c1, (c2)."violations" AS c57, (c2)."at" AS c58, (c2)."witness" AS c59 FROM 
(SELECT c7, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': '5.5 sends its hierarchy status each night', 'consumed': c53, 'violations': c54, 'at': (c55)."at", 'witness': (c55)."words"}]) AS uc2 FROM 
(SELECT c7, count(1) FILTER (WHERE c50) AS c53, count(1) FILTER (WHERE c51) AS c54, arg_min(CASE WHEN c51 THEN {'at': c49, 'words': c52} END, CASE WHEN c51 THEN {n0: c49 IS NOT NULL, v0: c49, n1: c52 IS NOT NULL, v1: c52} END) AS c55 FROM 
(SELECT c7, c3 AS c49, coalesce(c47, FALSE) AS c50, CASE WHEN coalesce(c47, FALSE) THEN (NOT coalesce(c43, FALSE)) ELSE FALSE END AS c51, CASE WHEN CASE WHEN coalesce(c47, FALSE) THEN (NOT coalesce(c43, FALSE)) ELSE FALSE END THEN (c8 || ' did not send the status of the hierarchy that night') END AS c52 FROM 
(SELECT c7, c8, c3, c43, c47 FROM 
(SELECT c7, c8, c3, c43, (NOT list_any(list_transform(coalesce(c46, CAST([] AS STRUCT("since" BIGINT, "until" BIGINT)[])), lambda v48: ((c3 >= (v48)."since") AND (c3 <= (v48)."until"))))) AS c47 FROM 
(SELECT c7, c8, c3, c43, c46 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c7, c8, c3, coalesce(c42, FALSE) AS c43 FROM 
(SELECT c7, c8, c3, c42 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c7, c8, c3 FROM 
(SELECT * EXCLUDE (uc3), uc3 AS c3 FROM (SELECT *, unnest(CASE WHEN ((add_wrapped(multiply_wrapped(add_wrapped(double_to_bigint(floor(((subtract_wrapped(c26, (900000000)::BIGINT))::DOUBLE / nullif((86400000000::BIGINT)::DOUBLE, 0)))), (1)::BIGINT), 86400000000::BIGINT), (900000000)::BIGINT) < c32) AND ((((c32)::DOUBLE / nullif((86400000000::BIGINT)::DOUBLE, 0)) - ((add_wrapped(multiply_wrapped(add_wrapped(double_to_bigint(floor(((subtract_wrapped(c26, (900000000)::BIGINT))::DOUBLE / nullif((86400000000::BIGINT)::DOUBLE, 0)))), (1)::BIGINT), 86400000000::BIGINT), (900000000)::BIGINT))::DOUBLE / nullif((86400000000::BIGINT)::DOUBLE, 0))) < (36525)::DOUBLE)) THEN number_series(add_wrapped(multiply_wrapped(add_wrapped(double_to_bigint(floor(((subtract_wrapped(c26, (900000000)::BIGINT))::DOUBLE / nullif((86400000000::BIGINT)::DOUBLE, 0)))), (1)::BIGINT), 86400000000::BIGINT), (900000000)::BIGINT), subtract_wrapped(c32, (1)::BIGINT), 86400000000::BIGINT) ELSE CAST([] AS BIGINT[]) END) AS uc3 FROM 
(SELECT c7, c8, c26, c32 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c7, c8, min(c9) AS c26, count(1) AS c4 FROM 
(SELECT c7, c8, c9 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c7, c8, c9 FROM 
(SELECT "trace" AS c7, "node" AS c8, "type" AS c6, "at" AS c9, "family" AS c5 FROM "silver/events") WHERE ((c5 IN ('run')) AND (c6 IN ('node.started'))))) SEMI JOIN 
(SELECT * FROM 
(SELECT c10, c11 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT DISTINCT c10, c11 FROM 
(SELECT c10, c11 FROM 
(SELECT c10, c11, c12, c13 FROM 
(SELECT "trace" AS c10, "node" AS c11, "type" AS c15, "name" AS c12, "value" AS c13, "family" AS c14 FROM "silver/events") WHERE ((c14 IN ('run')) AND (c15 IN ('setting.value')))) WHERE ((c12 = 'Service Pack') AND (TRY_CAST(text_to_bigint(c13) AS INTEGER) < 4))))) ANTI JOIN 
(SELECT * FROM 
(SELECT c16 AS c16, c17 AS c17 FROM 
(SELECT DISTINCT c16, c17 FROM 
(SELECT c16, c17 FROM 
(SELECT c16, c17, c18 FROM 
(SELECT "trace" AS c16, "node" AS c17, "type" AS c20, "name" AS c18, "family" AS c19 FROM "silver/events") WHERE ((c19 IN ('run')) AND (c20 IN ('setting.value')))) WHERE starts_with(c18, 'Replication Send Status')))
UNION ALL SELECT c21 AS c16, c22 AS c17 FROM 
(SELECT c21, c22 FROM 
(SELECT DISTINCT c21, c22 FROM 
(SELECT c21, c22 FROM 
(SELECT c21, c22, c23 FROM 
(SELECT "trace" AS c21, "node" AS c22, "type" AS c25, "store" AS c23, "family" AS c24 FROM "silver/events") WHERE ((c24 IN ('replication')) AND (c25 IN ('address.missing')))) WHERE (c23 = c22)))))) ON ((c10 = c16) AND (c11 = c17))))) ON ((c7 = c10) AND (c8 = c11)))) GROUP BY c7, c8) WHERE (c4 = (1)::BIGINT)) JOIN 
(SELECT * FROM 
(SELECT c29, c30, min(c31) AS c32 FROM 
(SELECT c29, c30, c31 FROM 
(SELECT "trace" AS c29, "node" AS c30, "type" AS c28, "at" AS c31, "family" AS c27 FROM "silver/events") WHERE ((c27 IN ('run')) AND (c28 IN ('node.stopped')))) GROUP BY c29, c30)) ON ((c7 = c29) AND (c8 = c30)))))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c33, c34, c35, TRUE AS c42 FROM 
(SELECT DISTINCT c33, c34, c35 FROM 
(SELECT c33, c34, c35 FROM 
(SELECT "trace" AS c33, "node" AS c34, "at" AS c35, "message_type" AS c37, "to" AS c39, "folder" AS c38, "what" AS c36, "reached" AS c41 FROM "evidence/listed") WHERE (((c36 = 'mail') AND (c37 = (16)::BIGINT)) AND ((c38 = '1-1') AND (c39 = list_sort(list_filter(c41, lambda v40: (NOT (v40 = c34))), 'ASC', 'NULLS LAST')))))))) ON (((c7 = c33) AND (c8 = c34)) AND (c3 = c35)))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c44, c45, c46 FROM 
(SELECT "trace" AS c44, "node" AS c45, "hindered" AS c46 FROM "evidence/nodes"))) ON ((c7 = c44) AND (c8 = c45))))))) GROUP BY c7))))) WHERE (c1 > (0)::BIGINT));

-- table rules/repeats needs mail.received,mail.submitted
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c6 AS "trace", c103 AS "check", c1 AS "consumed", c104 AS "violations", c105 AS "at", c106 AS "witness" FROM (SELECT * FROM 
(SELECT c6, (c2)."check" AS c103, (c2)."consumed" AS c1, (c2)."violations" AS c104, (c2)."at" AS c105, (c2)."witness" AS c106 FROM 
(SELECT c6, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'repeats are answered', 'consumed': c94, 'violations': c95, 'at': (c96)."at", 'witness': (c96)."words"}, {'check': 'repeats are a day apart', 'consumed': c97, 'violations': c98, 'at': (c99)."at", 'witness': (c99)."words"}, {'check': 'only silent stores are asked again', 'consumed': c100, 'violations': c101, 'at': (c102)."at", 'witness': (c102)."words"}]) AS uc2 FROM 
(SELECT c6, count(1) FILTER (WHERE c85) AS c94, count(1) FILTER (WHERE c86) AS c95, arg_min(CASE WHEN c86 THEN {'at': c84, 'words': c87} END, CASE WHEN c86 THEN {n0: c84 IS NOT NULL, v0: c84, n1: c87 IS NOT NULL, v1: c87} END) AS c96, count(1) FILTER (WHERE c88) AS c97, count(1) FILTER (WHERE c89) AS c98, arg_min(CASE WHEN c89 THEN {'at': c84, 'words': c90} END, CASE WHEN c89 THEN {n0: c84 IS NOT NULL, v0: c84, n1: c90 IS NOT NULL, v1: c90} END) AS c99, count(1) FILTER (WHERE c91) AS c100, count(1) FILTER (WHERE c92) AS c101, arg_min(CASE WHEN c92 THEN {'at': c84, 'words': c93} END, CASE WHEN c92 THEN {n0: c84 IS NOT NULL, v0: c84, n1: c93 IS NOT NULL, v1: c93} END) AS c102 FROM 
(SELECT c6, c9 AS c84, coalesce((((c3 = 'received') AND list_contains_or_null(c14, c7)) AND ((NOT c15) AND c16)), FALSE) AS c85, CASE WHEN coalesce((((c3 = 'received') AND list_contains_or_null(c14, c7)) AND ((NOT c15) AND c16)), FALSE) THEN (NOT coalesce(c46, FALSE)) ELSE FALSE END AS c86, CASE WHEN CASE WHEN coalesce((((c3 = 'received') AND list_contains_or_null(c14, c7)) AND ((NOT c15) AND c16)), FALSE) THEN (NOT coalesce(c46, FALSE)) ELSE FALSE END THEN (c7 || ' did not answer the repeat <' || c10 || '> of ' || c13 || ' for ' || ('folder=' || c12)) END AS c87, coalesce(((c83 AND (c3 = 'sent')) AND ((c11 = (16)::BIGINT) AND (c48 IS NOT NULL))), FALSE) AS c88, CASE WHEN coalesce(((c83 AND (c3 = 'sent')) AND ((c11 = (16)::BIGINT) AND (c48 IS NOT NULL))), FALSE) THEN (NOT coalesce((subtract_wrapped(c9, c48) >= 86400000000::BIGINT), FALSE)) ELSE FALSE END AS c89, CASE WHEN CASE WHEN coalesce(((c83 AND (c3 = 'sent')) AND ((c11 = (16)::BIGINT) AND (c48 IS NOT NULL))), FALSE) THEN (NOT coalesce((subtract_wrapped(c9, c48) >= 86400000000::BIGINT), FALSE)) ELSE FALSE END THEN (c7 || ' repeated its status of ' || ('folder=' || c12) || ' to ' || c47 || ' within a day') END AS c90, coalesce(((c3 = 'sent') AND (c11 = (32)::BIGINT)), FALSE) AS c91, CASE WHEN coalesce(((c3 = 'sent') AND (c11 = (32)::BIGINT)), FALSE) THEN (NOT coalesce(((c48 IS NOT NULL) AND (NOT c49)), FALSE)) ELSE FALSE END AS c92, CASE WHEN CASE WHEN coalesce(((c3 = 'sent') AND (c11 = (32)::BIGINT)), FALSE) THEN (NOT coalesce(((c48 IS NOT NULL) AND (NOT c49)), FALSE)) ELSE FALSE END THEN (c7 || ' asked ' || c47 || ' again for ' || ('folder=' || c12) || CASE WHEN c49 THEN ', which had answered' ELSE ', which it had not asked before' END) END AS c93 FROM 
(SELECT c6, c7, c9, c12, c10, c11, c13, c14, c15, c16, c3, c46, c47, c48, c49, coalesce(c82, FALSE) AS c83 FROM 
(SELECT c6, c7, c9, c12, c10, c11, c13, c14, c15, c16, c3, c46, c47, c48, c49, c82 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c6 AS c6, c7 AS c7, c9 AS c9, c12 AS c12, c10 AS c10, c11 AS c11, c13 AS c13, c14 AS c14, c15 AS c15, c16 AS c16, c3 AS c3, c46 AS c46, c47 AS c47, c48 AS c48, c49 AS c49 FROM 
(SELECT c6, c7, c9, c12, c10, c11, c13, c14, c15, c16, c3, c46, CAST(NULL AS VARCHAR) AS c47, CAST(NULL AS BIGINT) AS c48, CAST(NULL AS BOOLEAN) AS c49 FROM 
(SELECT c6, c7, c9, c12, c10, c11, c13, c14, c15, c16, c3, coalesce(c45, FALSE) AS c46 FROM 
(SELECT c6, c7, c9, c12, c13, c10, c11, c3, c14, c15, c16, c45 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c6, c7, c9, c10, c11, c12, c3, c13, c14, c15, c16 FROM 
(SELECT c6, c7, c9, c10, c11, c12, c3, c13, c14, c15, c16, c4 FROM 
(SELECT c6, c7, c9, c10, c11, c12, c3, c13, c14, c15, c16, coalesce(c34, TRUE) AS c4 FROM 
(SELECT *, last_value(c17 IGNORE NULLS) OVER (PARTITION BY c6, c7, c12 ORDER BY c8 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS c34 FROM 
(SELECT c6, c7, c8, c9, c10, c11, c12, c3, c13, c14, c15, c16, c17 FROM 
(SELECT c6 AS c6, c7 AS c7, c8 AS c8, c9 AS c9, c10 AS c10, c11 AS c11, c12 AS c12, c3 AS c3, c13 AS c13, c14 AS c14, c15 AS c15, c16 AS c16, c17 AS c17 FROM 
(SELECT c6, c7, c8, c9, c10, c11, c12, c3, c13, c14, c15, c16, CAST(NULL AS BOOLEAN) AS c17 FROM 
(SELECT "trace" AS c6, "node" AS c7, "seq" AS c8, "at" AS c9, "mail" AS c10, "message_type" AS c11, "marks" AS c5, "folder" AS c12, "what" AS c3, "sender" AS c13, "holders" AS c14, "dead" AS c15, "answerable" AS c16 FROM "evidence/listed") WHERE ((c3 = 'received') AND list_contains_or_null(coalesce(c5, CAST([] AS VARCHAR[])), 'repeat')))
UNION ALL SELECT c22 AS c6, c20 AS c7, c23 AS c8, c24 AS c9, c27 AS c10, c28 AS c11, c25 AS c12, c29 AS c3, c30 AS c13, c31 AS c14, c32 AS c15, c33 AS c16, c26 AS c17 FROM 
(SELECT c22, c20, c23, c24, CAST(NULL AS VARCHAR) AS c27, CAST(NULL AS BIGINT) AS c28, c25, CAST(NULL AS VARCHAR) AS c29, CAST(NULL AS VARCHAR) AS c30, CAST(NULL AS VARCHAR[]) AS c31, CAST(NULL AS BOOLEAN) AS c32, CAST(NULL AS BOOLEAN) AS c33, c26 FROM 
(SELECT c22, c20, c23, c24, c25, (c18 IN ('replica.added', 'folder.shown')) AS c26 FROM 
(SELECT c22, c18, c20, c23, c24, c25, c19 FROM 
(SELECT "trace" AS c22, "node" AS c20, "type" AS c18, "seq" AS c23, "at" AS c24, "store" AS c19, "folder" AS c25, "family" AS c21 FROM "silver/events") WHERE ((c21 IN ('replication')) AND (c18 IN ('replica.added', 'folder.shown', 'replica.dropped', 'folder.hidden')))) WHERE ((NOT (c18 = 'replica.added')) OR (c19 = c20))))))))) WHERE ((c3 IS NOT NULL) AND c4))) LEFT JOIN 
(SELECT * FROM 
(SELECT DISTINCT ON (c35, c36, c37, c38, c39) * FROM 
(SELECT c35, c39, c36, c37, list_item(c41, 0) AS c38, TRUE AS c45 FROM 
(SELECT c35, c39, c36, c40, c41, c37, list_contains_or_null(coalesce(c44, CAST([] AS VARCHAR[])), 'repeat') AS c42 FROM 
(SELECT "trace" AS c35, "node" AS c39, "at" AS c36, "message_type" AS c40, "marks" AS c44, "to" AS c41, "folder" AS c37, "what" AS c43 FROM "evidence/listed") WHERE (c43 = 'mail')) WHERE (((c40 = (16)::BIGINT) AND (coalesce(len(c41)::INTEGER, -1) = 1)) AND (NOT c42))))) ON (((((c6 = c35) AND (c7 = c39)) AND (c9 = c36)) AND (c12 = c37)) AND (c13 = c38))))))
UNION ALL SELECT c54 AS c6, c55 AS c7, c57 AS c9, c61 AS c12, c58 AS c10, c52 AS c11, c75 AS c13, c76 AS c14, c77 AS c15, c78 AS c16, c74 AS c3, c79 AS c46, c51 AS c47, c62 AS c48, c73 AS c49 FROM 
(SELECT c54, c55, c57, c61, c58, c52, CAST(NULL AS VARCHAR) AS c75, CAST(NULL AS VARCHAR[]) AS c76, CAST(NULL AS BOOLEAN) AS c77, CAST(NULL AS BOOLEAN) AS c78, c74, CAST(NULL AS BOOLEAN) AS c79, c51, c62, c73 FROM 
(SELECT c54, c55, c57, c61, c58, c52, c51, c62, c73, 'sent' AS c74 FROM 
(SELECT c54, c55, c57, c61, c58, c52, c51, c62, coalesce(bool_or((((c72 > c63) AND (c72 < c56)) AND (c71 >= c62))), FALSE) AS c73 FROM 
(SELECT c54, c55, c61, c51, c56, c57, c58, c52, c62, c63, c72, c71 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c54, c55, c56, c57, c61, c58, c52, c50, c51, c62, c63 FROM 
(SELECT c54, c55, c56, c57, c61, c58, c52, c50, c51, c62, c63, c62, c63 FROM 
(SELECT *, lag(c57, 1, NULL) OVER (PARTITION BY c54, c55, c61, c51, c52 ORDER BY c56 ASC NULLS FIRST ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING) AS c62, lag(c56, 1, NULL) OVER (PARTITION BY c54, c55, c61, c51, c52 ORDER BY c56 ASC NULLS FIRST ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING) AS c63 FROM 
(SELECT c54, c55, c56, c57, c61, c58, c52, c50, c51 FROM 
(SELECT c54, c55, c56, c57, c61, c58, c52, c50, c51 FROM 
(SELECT * EXCLUDE (uc51), uc51 AS c51 FROM (SELECT *, unnest(c60) AS uc51 FROM 
(SELECT c54, c55, c56, c57, c58, c52, c60, c61, list_contains_or_null(coalesce(c59, CAST([] AS VARCHAR[])), 'repeat') AS c50 FROM 
(SELECT "trace" AS c54, "node" AS c55, "seq" AS c56, "at" AS c57, "mail" AS c58, "message_type" AS c52, "marks" AS c59, "to" AS c60, "folder" AS c61, "what" AS c53 FROM "evidence/listed") WHERE (c53 = 'mail')) WHERE ((c52 = (32)::BIGINT) OR c50)))))))) WHERE c50) LEFT JOIN 
(SELECT * FROM 
(SELECT c66, c67, c70, c69, c68 AS c72, c71 FROM 
(SELECT c66, c67, c68, c70, c69, c71 FROM 
(SELECT "trace" AS c66, "node" AS c67, "type" AS c65, "seq" AS c68, "store" AS c69, "folder" AS c70, "sent_at" AS c71, "family" AS c64 FROM "silver/events") WHERE ((c64 IN ('replication')) AND (c65 IN ('row.replaced')))))) ON ((((c54 = c66) AND (c55 = c67)) AND (c61 = c70)) AND (c51 = c69)))) GROUP BY c54, c55, c56, c57, c61, c58, c52, c51, c62))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c80, c81, TRUE AS c82 FROM 
(SELECT "trace" AS c80, "node" AS c81 FROM "evidence/plain"))) ON ((c6 = c80) AND (c7 = c81)))))) GROUP BY c6))))) WHERE (c1 > (0)::BIGINT));

-- table rules/entries needs entry.made,entry.pruned,entry.satisfied,entry.timed_out,request.ended,request.sent
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c5 AS "trace", c84 AS "check", c1 AS "consumed", c85 AS "violations", c86 AS "at", c87 AS "witness" FROM (SELECT * FROM 
(SELECT c5, (c2)."check" AS c84, (c2)."consumed" AS c1, (c2)."violations" AS c85, (c2)."at" AS c86, (c2)."witness" AS c87 FROM 
(SELECT c5, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'new entries wait 6 or 12 hours', 'consumed': c72, 'violations': c73, 'at': (c74)."at", 'witness': (c74)."words"}, {'check': 'requests are not sent early', 'consumed': c75, 'violations': c76, 'at': (c77)."at", 'witness': (c77)."words"}, {'check': 'the first retry is after 12 or 24 hours', 'consumed': c78, 'violations': c79, 'at': (c80)."at", 'witness': (c80)."words"}, {'check': 'no backfill entry remains', 'consumed': c81, 'violations': c82, 'at': (c83)."at", 'witness': (c83)."words"}]) AS uc2 FROM 
(SELECT c5, count(1) FILTER (WHERE c60) AS c72, count(1) FILTER (WHERE c61) AS c73, arg_min(CASE WHEN c61 THEN {'at': c59, 'words': c62} END, CASE WHEN c61 THEN {n0: c59 IS NOT NULL, v0: c59, n1: c62 IS NOT NULL, v1: c62} END) AS c74, count(1) FILTER (WHERE c63) AS c75, count(1) FILTER (WHERE c64) AS c76, arg_min(CASE WHEN c64 THEN {'at': c59, 'words': c65} END, CASE WHEN c64 THEN {n0: c59 IS NOT NULL, v0: c59, n1: c65 IS NOT NULL, v1: c65} END) AS c77, count(1) FILTER (WHERE c66) AS c78, count(1) FILTER (WHERE c67) AS c79, arg_min(CASE WHEN c67 THEN {'at': c59, 'words': c68} END, CASE WHEN c67 THEN {n0: c59 IS NOT NULL, v0: c59, n1: c68 IS NOT NULL, v1: c68} END) AS c80, count(1) FILTER (WHERE c69) AS c81, count(1) FILTER (WHERE c70) AS c82, arg_min(CASE WHEN c70 THEN {'at': c59, 'words': c71} END, CASE WHEN c70 THEN {n0: c59 IS NOT NULL, v0: c59, n1: c71 IS NOT NULL, v1: c71} END) AS c83 FROM 
(SELECT c5, c22 AS c59, coalesce((c55 AND (c22 IS NOT NULL)), FALSE) AS c60, CASE WHEN coalesce((c55 AND (c22 IS NOT NULL)), FALSE) THEN (NOT coalesce((c23 = greatest(c22, add_wrapped(c31, CASE WHEN c24 THEN 21600000000::BIGINT ELSE 43200000000::BIGINT END))), FALSE)) ELSE FALSE END AS c61, CASE WHEN CASE WHEN coalesce((c55 AND (c22 IS NOT NULL)), FALSE) THEN (NOT coalesce((c23 = greatest(c22, add_wrapped(c31, CASE WHEN c24 THEN 21600000000::BIGINT ELSE 43200000000::BIGINT END))), FALSE)) ELSE FALSE END THEN (c6 || ' let entry ' || (c18)::VARCHAR || ' wait for another time than ' || CASE WHEN c24 THEN '6' ELSE '12' END || ' hours') END AS c62, coalesce(((c55 AND (c26 IS NOT NULL)) AND (c22 IS NOT NULL)), FALSE) AS c63, CASE WHEN coalesce(((c55 AND (c26 IS NOT NULL)) AND (c22 IS NOT NULL)), FALSE) THEN (NOT coalesce((c26 >= add_wrapped(c31, 21600000000::BIGINT)), FALSE)) ELSE FALSE END AS c64, CASE WHEN CASE WHEN coalesce(((c55 AND (c26 IS NOT NULL)) AND (c22 IS NOT NULL)), FALSE) THEN (NOT coalesce((c26 >= add_wrapped(c31, 21600000000::BIGINT)), FALSE)) ELSE FALSE END THEN (c6 || ' sent a request for entry ' || (c18)::VARCHAR || ' too early') END AS c65, coalesce((c55 AND (c26 IS NOT NULL)), FALSE) AS c66, CASE WHEN coalesce((c55 AND (c26 IS NOT NULL)), FALSE) THEN (NOT coalesce((((subtract_wrapped(c27, c26) IN (43200000000::BIGINT, 86400000000::BIGINT)) AND (NOT c28)) OR ((subtract_wrapped(c27, c26) IN (86400000000::BIGINT, 172800000000::BIGINT)) AND c28)), FALSE)) ELSE FALSE END AS c67, CASE WHEN CASE WHEN coalesce((c55 AND (c26 IS NOT NULL)), FALSE) THEN (NOT coalesce((((subtract_wrapped(c27, c26) IN (43200000000::BIGINT, 86400000000::BIGINT)) AND (NOT c28)) OR ((subtract_wrapped(c27, c26) IN (86400000000::BIGINT, 172800000000::BIGINT)) AND c28)), FALSE)) ELSE FALSE END THEN (c6 || ' set the first retry of entry ' || (c18)::VARCHAR || ' to another time than 12 or 24 hours') END AS c68, coalesce((((c22 IS NOT NULL) AND c58) AND (NOT c51)), FALSE) AS c69, CASE WHEN coalesce((((c22 IS NOT NULL) AND c58) AND (NOT c51)), FALSE) THEN (NOT coalesce(c29, FALSE)) ELSE FALSE END AS c70, CASE WHEN CASE WHEN coalesce((((c22 IS NOT NULL) AND c58) AND (NOT c51)), FALSE) THEN (NOT coalesce(c29, FALSE)) ELSE FALSE END THEN (c6 || ' still waits for entry ' || (c18)::VARCHAR || ' of ' || ('folder=' || c21)) END AS c71 FROM 
(SELECT c5, c6, c18, c21, c22, c23, c24, c26, c27, c28, c29, c31, c51, c55, c58 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c5, c6, c18, c21, c22, c23, c24, c26, c27, c28, c29, c31, c51, coalesce(c54, FALSE) AS c55 FROM 
(SELECT c5, c6, c18, c21, c22, c23, c24, c26, c27, c28, c29, c31, c51, c54 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c5, c6, c18, c21, c22, c23, c24, c26, c27, c28, c29, c31, coalesce(c50, FALSE) AS c51 FROM 
(SELECT c5, c6, c18, c21, c22, c23, c24, c26, c27, c28, c29, c31, c50 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c5, c6, c18, c21, c22, c23, c24, c26, c27, c28, c29, c31 FROM 
(SELECT c5, c6, c18, c21, c22, c23, c24, c26, c27, c28, c29, c31, c31 FROM 
(SELECT *, min(c22) OVER (PARTITION BY c5, c6, c30) AS c31 FROM 
(SELECT c5, c6, c18, c21, c22, c23, c24, c26, c27, c28, c29, CASE WHEN (TRY_CAST(text_to_bigint(c25) AS INTEGER) > 0) THEN c25 ELSE (c18)::VARCHAR END AS c30 FROM 
(SELECT c5, c6, c18, min(CASE WHEN (c4 = 'entry.made') THEN c9 END) AS c21, min(CASE WHEN (c4 = 'entry.made') THEN c8 END) AS c22, min(CASE WHEN (c4 = 'entry.made') THEN c14 END) AS c23, max(CASE WHEN (c4 = 'entry.made') THEN c13 END) AS c24, max(CASE WHEN (c4 = 'entry.made') THEN c11 END) AS c25, min(CASE WHEN (c4 = 'request.sent') THEN c8 END) AS c26, arg_min_null(CASE WHEN (c4 = 'request.sent') THEN c10 END, CASE WHEN (c4 = 'request.sent') THEN c7 END) AS c27, coalesce(arg_min_null(CASE WHEN (c4 = 'request.sent') THEN c20 END, CASE WHEN (c4 = 'request.sent') THEN c7 END), FALSE) AS c28, max((c4 IN ('entry.satisfied', 'entry.pruned'))) AS c29 FROM 
(SELECT c5, c6, c4, c7, c8, c9, c10, c11, c18, c13, c14, c20 FROM 
(SELECT c5, c6, c4, c7, c8, c9, c10, c11, c18, c13, c14, c20, c20 FROM 
(SELECT *, last_value(c19 IGNORE NULLS) OVER (PARTITION BY c5, c6, c18 ORDER BY c7 ASC NULLS FIRST RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS c20 FROM 
(SELECT c5, c6, c4, c7, c8, c9, c10, c11, c18, c13, c14, CASE WHEN (c4 = 'sources.considered') THEN c15 END AS c19 FROM 
(SELECT c5, c6, c4, c7, c8, c9, c10, c11, c12 AS c18, c13, c14, c15 FROM 
(SELECT c5, c6, c4, c7, c8, c9, c10, c11, c12, c13, c14, c15 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT "trace" AS c5, "node" AS c6, "type" AS c4, "seq" AS c7, "at" AS c8, "folder" AS c9, "retry_at" AS c10, "parent" AS c11, "entry" AS c12, "local" AS c13, "due_at" AS c14, "one_by_one" AS c15, "family" AS c3 FROM "silver/events") WHERE ((c3 IN ('replication')) AND (c4 IN ('entry.made', 'entry.timed_out', 'entry.satisfied', 'entry.pruned', 'request.sent', 'request.ended', 'sources.considered')))) ANTI JOIN 
(SELECT * FROM 
(SELECT "trace" AS c16, "node" AS c17 FROM "evidence/restored")) ON ((c5 = c16) AND (c6 = c17))))))))) GROUP BY c5, c6, c18)))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c36, c37 AS c49, TRUE AS c50 FROM 
(SELECT c36, c37 FROM 
(SELECT c36, c37, c32, c33 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c36, c37, max(coalesce(c38, (0)::BIGINT)) AS c32 FROM 
(SELECT c36 AS c36, c37 AS c37, c38 AS c38 FROM 
(SELECT c36, c37, c38 FROM 
(SELECT c36, c37, c38 FROM 
(SELECT "trace" AS c36, "type" AS c35, "store" AS c37, "directory_object" AS c38, "family" AS c34 FROM "silver/events") WHERE ((c34 IN ('replication')) AND (c35 IN ('store.deleted')))))
UNION ALL SELECT c41 AS c36, c42 AS c37, c43 AS c38 FROM 
(SELECT c41, c42, c43 FROM 
(SELECT c41, c42, c43 FROM 
(SELECT c41, c42, c43 FROM 
(SELECT "trace" AS c41, "type" AS c40, "store" AS c42, "directory_object" AS c43, "family" AS c39 FROM "silver/events") WHERE ((c39 IN ('run')) AND (c40 IN ('backup.elsewhere'))))))) GROUP BY c36, c37)) LEFT JOIN 
(SELECT * FROM 
(SELECT c46, c47, max(c48) AS c33 FROM 
(SELECT c46, c47, c48 FROM 
(SELECT "trace" AS c46, "type" AS c45, "store" AS c47, "directory_object" AS c48, "family" AS c44 FROM "silver/events") WHERE ((c44 IN ('run')) AND (c45 IN ('store.created')))) GROUP BY c46, c47)) ON ((c36 = c46) AND (c37 = c47)))) WHERE (c32 >= coalesce(c33, (0)::BIGINT))))) ON ((c5 = c36) AND (c6 = c49)))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c52, c53, TRUE AS c54 FROM 
(SELECT "trace" AS c52, "node" AS c53 FROM "evidence/plain"))) ON ((c5 = c52) AND (c6 = c53)))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c56, (TRUE AND min((c57 = 'converged'))) AS c58 FROM 
(SELECT "trace" AS c56, "judgement" AS c57 FROM "gold/verdicts") GROUP BY c56)) ON (c5 = c56)))) GROUP BY c5))))) WHERE (c1 > (0)::BIGINT));

-- table rules/entries_made needs entry.made
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c4 AS "trace", c52 AS "check", c1 AS "consumed", c53 AS "violations", c54 AS "at", c55 AS "witness" FROM (SELECT * FROM 
(SELECT c4, (c2)."check" AS c52, (c2)."consumed" AS c1, (c2)."violations" AS c53, (c2)."at" AS c54, (c2)."witness" AS c55 FROM 
(SELECT c4, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'local entries are in the site', 'consumed': c49, 'violations': c50, 'at': (c51)."at", 'witness': (c51)."words"}]) AS uc2 FROM 
(SELECT c4, count(1) FILTER (WHERE c38) AS c49, count(1) FILTER (WHERE c39) AS c50, arg_min(CASE WHEN c39 THEN {'at': c37, 'words': c44} END, CASE WHEN c39 THEN {n0: c37 IS NOT NULL, v0: c37, n1: c44 IS NOT NULL, v1: c44} END) AS c51 FROM 
(SELECT c4, c7 AS c37, coalesce((NOT c30), FALSE) AS c38, CASE WHEN coalesce((NOT c30), FALSE) THEN (NOT coalesce(CASE WHEN c20 THEN list_all(list_transform(c28, lambda v40: list_any(list_transform(c31, lambda v41: ((((v41)."guid" = (v40)."guid") AND ((v41)."low" <= (v40)."low")) AND ((v40)."high" <= (v41)."high")))))) ELSE (NOT list_any(list_transform(c28, lambda v42: list_any(list_transform(c31, lambda v43: ((((v43)."guid" = (v42)."guid") AND ((v43)."low" <= (v42)."high")) AND ((v42)."low" <= (v43)."high"))))))) END, FALSE)) ELSE FALSE END AS c39, CASE WHEN CASE WHEN coalesce((NOT c30), FALSE) THEN (NOT coalesce(CASE WHEN c20 THEN list_all(list_transform(c28, lambda v45: list_any(list_transform(c31, lambda v46: ((((v46)."guid" = (v45)."guid") AND ((v46)."low" <= (v45)."low")) AND ((v45)."high" <= (v46)."high")))))) ELSE (NOT list_any(list_transform(c28, lambda v47: list_any(list_transform(c31, lambda v48: ((((v48)."guid" = (v47)."guid") AND ((v48)."low" <= (v47)."high")) AND ((v47)."low" <= (v48)."high"))))))) END, FALSE)) ELSE FALSE END THEN (c5 || ' marked entry ' || (c9)::VARCHAR || CASE WHEN c20 THEN ' as local, but the site does not have all of it' ELSE ' as remote, but the site has some of it' END) END AS c44 FROM 
(SELECT c4, c5, c7, c9, c20, c28, c30, c31 FROM 
(SELECT c4, c5, c7, c9, c20, c28, c30, list_reduce(list_transform(list_sort(list_transform(list_transform(c29, lambda v34: {'guid': (v34)."guid", 'low': (v34)."low", 'high': (v34)."high"}), lambda v35: {k: CASE WHEN v35 IS NOT NULL THEN {n0: (v35)."guid" IS NOT NULL, v0: (v35)."guid", n1: (v35)."low" IS NOT NULL, v1: (v35)."low", n2: (v35)."high" IS NOT NULL, v2: (v35)."high"} END, v: v35}), 'ASC', 'NULLS LAST'), lambda v35: v35.v), lambda v32, v33: CASE WHEN (((coalesce(len(v32)::INTEGER, -1) > 0) AND ((list_item(v32, (coalesce(len(v32)::INTEGER, -1) - 1)))."guid" = (v33)."guid")) AND ((list_item(v32, (coalesce(len(v32)::INTEGER, -1) - 1)))."high" >= subtract_wrapped((v33)."low", (1)::BIGINT))) THEN (list_part(v32, 1, (coalesce(len(v32)::INTEGER, -1) - 1)) || [{'guid': (v33)."guid", 'low': (list_item(v32, (coalesce(len(v32)::INTEGER, -1) - 1)))."low", 'high': greatest((list_item(v32, (coalesce(len(v32)::INTEGER, -1) - 1)))."high", (v33)."high")}]) ELSE (v32 || [v33]) END, CAST(CAST([] AS STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[]) AS STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[])) AS c31 FROM 
(SELECT c4, c5, c7, c9, c20, arg_min(c21, list_transform(c21, lambda c21_item: CASE WHEN c21_item IS NOT NULL THEN {n0: (c21_item)."guid" IS NOT NULL, v0: (c21_item)."guid", n1: (c21_item)."low" IS NOT NULL, v1: (c21_item)."low", n2: (c21_item)."high" IS NOT NULL, v2: (c21_item)."high"} END)) AS c28, flatten(coalesce(list(coalesce(c11, CAST([] AS STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[]))) FILTER (WHERE coalesce(c11, CAST([] AS STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[])) IS NOT NULL), [])) AS c29, max(c10) AS c30 FROM 
(SELECT c4, c5, c6, c9, c7, c8, c10, c11, c20, c21 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT "trace" AS c4, "node" AS c5, "seq" AS c6, "at" AS c7, "folder" AS c8, "entry" AS c9, "what" AS c3, "unsure" AS c10, "claim" AS c11 FROM "evidence/candidates") WHERE (c3 = 'entry')) JOIN 
(SELECT * FROM 
(SELECT c14, c15, c16, c19, c20, (list_flattened(list_transform(list_filter(str_split(c17, ';'), lambda v23: (NOT (v23 = ''))), lambda v22: list_transform(str_split(split_part(v22, ':', 2), ','), lambda v24: {'guid': CASE WHEN ('message' = 'fai') THEN (split_part(v22, ':', 1) || ' fai') ELSE split_part(v22, ':', 1) END, 'low': text_to_bigint(split_part(v24, '-', 1)), 'high': text_to_bigint(split_part(v24, '-', (-1)))}))) || list_flattened(list_transform(list_filter(str_split(c18, ';'), lambda v26: (NOT (v26 = ''))), lambda v25: list_transform(str_split(split_part(v25, ':', 2), ','), lambda v27: {'guid': CASE WHEN ('fai' = 'fai') THEN (split_part(v25, ':', 1) || ' fai') ELSE split_part(v25, ':', 1) END, 'low': text_to_bigint(split_part(v27, '-', 1)), 'high': text_to_bigint(split_part(v27, '-', (-1)))})))) AS c21 FROM 
(SELECT c14, c15, c16, c19, c17, c18, c20 FROM 
(SELECT "trace" AS c14, "node" AS c15, "type" AS c13, "seq" AS c16, "cnset" AS c17, "cnset_fai" AS c18, "entry" AS c19, "local" AS c20, "family" AS c12 FROM "silver/events") WHERE ((c12 IN ('replication')) AND (c13 IN ('entry.made')))))) ON ((((c4 = c14) AND (c5 = c15)) AND (c6 = c16)) AND (c9 = c19)))) GROUP BY c4, c5, c6, c7, c8, c9, c20)))) GROUP BY c4))))) WHERE (c1 > (0)::BIGINT));

-- table rules/slots needs request.deferred,request.ended,request.sent
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c7 AS "trace", c183 AS "check", c1 AS "consumed", c184 AS "violations", c185 AS "at", c186 AS "witness" FROM (SELECT * FROM 
(SELECT c7, (c2)."check" AS c183, (c2)."consumed" AS c1, (c2)."violations" AS c184, (c2)."at" AS c185, (c2)."witness" AS c186 FROM 
(SELECT c7, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'requests stay within the limit', 'consumed': c171, 'violations': c172, 'at': (c173)."at", 'witness': (c173)."words"}, {'check': 'slots are released in time', 'consumed': c174, 'violations': c175, 'at': (c176)."at", 'witness': (c176)."words"}, {'check': 'slots go to the longest due', 'consumed': c177, 'violations': c178, 'at': (c179)."at", 'witness': (c179)."words"}, {'check': 'an empty answer costs no time-out', 'consumed': c180, 'violations': c181, 'at': (c182)."at", 'witness': (c182)."words"}]) AS uc2 FROM 
(SELECT c7, count(1) FILTER (WHERE c155) AS c171, count(1) FILTER (WHERE c156) AS c172, arg_min(CASE WHEN c156 THEN {'at': c154, 'words': c157} END, CASE WHEN c156 THEN {n0: c154 IS NOT NULL, v0: c154, n1: c157 IS NOT NULL, v1: c157} END) AS c173, count(1) FILTER (WHERE c158) AS c174, count(1) FILTER (WHERE c159) AS c175, arg_min(CASE WHEN c159 THEN {'at': c154, 'words': c160} END, CASE WHEN c159 THEN {n0: c154 IS NOT NULL, v0: c154, n1: c160 IS NOT NULL, v1: c160} END) AS c176, count(1) FILTER (WHERE c161) AS c177, count(1) FILTER (WHERE c162) AS c178, arg_min(CASE WHEN c162 THEN {'at': c154, 'words': c163} END, CASE WHEN c162 THEN {n0: c154 IS NOT NULL, v0: c154, n1: c163 IS NOT NULL, v1: c163} END) AS c179, count(1) FILTER (WHERE c165) AS c180, count(1) FILTER (WHERE c167) AS c181, arg_min(CASE WHEN c167 THEN {'at': c154, 'words': c169} END, CASE WHEN c167 THEN {n0: c154 IS NOT NULL, v0: c154, n1: c169 IS NOT NULL, v1: c169} END) AS c182 FROM 
(SELECT c7, c10 AS c154, coalesce((c3 = 'request.sent'), FALSE) AS c155, CASE WHEN coalesce((c3 = 'request.sent'), FALSE) THEN (NOT coalesce((c40 <= c41), FALSE)) ELSE FALSE END AS c156, CASE WHEN CASE WHEN coalesce((c3 = 'request.sent'), FALSE) THEN (NOT coalesce((c40 <= c41), FALSE)) ELSE FALSE END THEN (c8 || ' had ' || (c40)::VARCHAR || ' outstanding requests, but the limit is ' || (c41)::VARCHAR) END AS c157, coalesce((c3 = 'request.ended'), FALSE) AS c158, CASE WHEN coalesce((c3 = 'request.ended'), FALSE) THEN (NOT coalesce(((c49 IS NOT NULL) AND (((NOT (c11 = 'retry')) OR (NOT c149)) OR (c10 >= add_wrapped(c49, 43200000000::BIGINT)))), FALSE)) ELSE FALSE END AS c159, CASE WHEN CASE WHEN coalesce((c3 = 'request.ended'), FALSE) THEN (NOT coalesce(((c49 IS NOT NULL) AND (((NOT (c11 = 'retry')) OR (NOT c149)) OR (c10 >= add_wrapped(c49, 43200000000::BIGINT)))), FALSE)) ELSE FALSE END THEN (c8 || ' ended a request for entry ' || (c4)::VARCHAR || CASE WHEN (c49 IS NULL) THEN ' that it had not sent' ELSE ' too early' END) END AS c160, coalesce((c3 = 'request.deferred'), FALSE) AS c161, CASE WHEN coalesce((c3 = 'request.deferred'), FALSE) THEN (NOT coalesce((c143 IS NULL), FALSE)) ELSE FALSE END AS c162, CASE WHEN CASE WHEN coalesce((c3 = 'request.deferred'), FALSE) THEN (NOT coalesce((c143 IS NULL), FALSE)) ELSE FALSE END THEN (c8 || ' served entry ' || list_text(list_transform(c143, lambda v164: (v164)::VARCHAR), ', ') || ' before entry ' || (c4)::VARCHAR || ', which came due earlier') END AS c163, coalesce(((((c3 = 'request.ended') AND (c11 = 'empty')) AND (c46 = (0)::BIGINT)) AND ((NOT coalesce(c44, FALSE)) AND (NOT coalesce(((c153 IN ('2003', '2007')) AND (list_extract(list_filter(c152, lambda v166: ((v166)."seq" < c9)), (-1)))."on"), FALSE)))), FALSE) AS c165, CASE WHEN coalesce(((((c3 = 'request.ended') AND (c11 = 'empty')) AND (c46 = (0)::BIGINT)) AND ((NOT coalesce(c44, FALSE)) AND (NOT coalesce(((c153 IN ('2003', '2007')) AND (list_extract(list_filter(c152, lambda v168: ((v168)."seq" < c9)), (-1)))."on"), FALSE)))), FALSE) THEN (NOT coalesce((NOT (coalesce(c47, '') = 'entry.timed_out')), FALSE)) ELSE FALSE END AS c167, CASE WHEN CASE WHEN coalesce(((((c3 = 'request.ended') AND (c11 = 'empty')) AND (c46 = (0)::BIGINT)) AND ((NOT coalesce(c44, FALSE)) AND (NOT coalesce(((c153 IN ('2003', '2007')) AND (list_extract(list_filter(c152, lambda v170: ((v170)."seq" < c9)), (-1)))."on"), FALSE)))), FALSE) THEN (NOT coalesce((NOT (coalesce(c47, '') = 'entry.timed_out')), FALSE)) ELSE FALSE END THEN (c8 || ' got nothing from ' || c13 || ' for entry ' || (c4)::VARCHAR || ' and asked nobody else until the next time-out') END AS c169 FROM 
(SELECT c7, c8, c9, c10, c4, c13, c11, c3, c40, c41, c44, c46, c47, c49, c143, c149, c152, c153 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c7, c8, c9, c10, c4, c13, c11, c3, c40, c41, c44, c46, c47, c49, c143, coalesce(c148, FALSE) AS c149 FROM 
(SELECT c7, c8, c9, c10, c4, c13, c11, c3, c40, c41, c44, c46, c47, c49, c143, c148 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c7, c8, c9, c10, c4, c13, c11, c3, c40, c41, c44, c46, c47, c49, c143 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c7, c8, c9, c10, c4, c13, c11, c3, c40, c41, c44, c46, c47, c49, c143 FROM 
(SELECT c7, c8, c9, c10, c4, c13, c11, c3, c40, c41, c44, c46, c47, c49, c143 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c7, c8, c9, c10, c4, c13, c11, c3, c40, c41, c44, c46, c47, c49 FROM 
(SELECT c7, c8, c9, c10, c4, c13, c11, c3, c40, c41, c44, c46, c47, c49, c49 FROM 
(SELECT *, last_value(c48 IGNORE NULLS) OVER (PARTITION BY c7, c8, c4, c13 ORDER BY c9 ASC NULLS FIRST RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS c49 FROM 
(SELECT c7, c8, c9, c10, c4, c13, c11, c3, c40, c41, c44, c46, c47, CASE WHEN (c3 = 'request.sent') THEN c10 END AS c48 FROM 
(SELECT c7, c8, c9, c10, c4, c13, c11, c3, c40, c41, c44, c46, c47 FROM 
(SELECT c7, c8, c9, c10, c4, c13, c11, c3, c40, c41, c44, c46, c47, c46, c47 FROM 
(SELECT *, wrapped(sum(c45) OVER (PARTITION BY c7, c8, c4 ORDER BY c9 ASC NULLS FIRST RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)) AS c46, lead(c3, 1, NULL) OVER (PARTITION BY c7, c8, c4 ORDER BY c9 ASC NULLS FIRST ROWS BETWEEN 1 FOLLOWING AND 1 FOLLOWING) AS c47 FROM 
(SELECT c7, c8, c9, c10, c4, c13, c11, c3, c40, c41, c44, CASE WHEN (c3 = 'request.sent') THEN 1 WHEN (c3 = 'request.ended') THEN (-1) END AS c45 FROM 
(SELECT c7, c8, c9, c10, c4, c13, c11, c3, c40, c41, c44 FROM 
(SELECT c7, c8, c9, c10, c4, c13, c11, c3, c40, c41, (c43 = 'request.deferred') AS c44 FROM 
(SELECT *, last_value(c42 IGNORE NULLS) OVER (PARTITION BY c7, c8, c4 ORDER BY c9 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS c43 FROM 
(SELECT c7, c8, c9, c10, c4, c13, c11, c3, c40, c41, CASE WHEN (c3 IN ('request.sent', 'request.deferred')) THEN c3 END AS c42 FROM 
(SELECT c7, c8, c9, c10, c4, c13, c11, c3, c40, c41 FROM 
(SELECT c7, c8, c9, c10, c4, c13, c11, c3, c40, c41, c40, c41 FROM 
(SELECT *, wrapped(sum(c39) OVER (PARTITION BY c7, c8 ORDER BY c9 ASC NULLS FIRST RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)) AS c40, last_value(c14 IGNORE NULLS) OVER (PARTITION BY c7, c8 ORDER BY c9 ASC NULLS FIRST RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS c41 FROM 
(SELECT c7, c8, c9, c10, c4, c13, c11, c3, c14, CASE WHEN (c3 = 'request.sent') THEN 1 WHEN (c3 = 'request.ended') THEN (-1) END AS c39 FROM 
(SELECT c7 AS c7, c8 AS c8, c9 AS c9, c10 AS c10, c4 AS c4, c13 AS c13, c11 AS c11, c3 AS c3, c14 AS c14 FROM 
(SELECT c7, c8, c9, c10, c4, c13, c11, c3, CAST(NULL AS BIGINT) AS c14 FROM 
(SELECT c7, c8, c9, c10, c12 AS c4, c13, c11, c6 AS c3 FROM 
(SELECT "trace" AS c7, "node" AS c8, "type" AS c6, "seq" AS c9, "at" AS c10, "how" AS c11, "entry" AS c12, "source" AS c13, "family" AS c5 FROM "silver/events") WHERE ((c5 IN ('replication')) AND (c6 IN ('entry.timed_out', 'entry.satisfied', 'entry.pruned', 'sources.considered', 'request.sent', 'request.ended', 'request.deferred', 'content.resumed')))))
UNION ALL SELECT c17 AS c7, c18 AS c8, c19 AS c9, c21 AS c10, c22 AS c4, c23 AS c13, c24 AS c11, c25 AS c3, c20 AS c14 FROM 
(SELECT c17, c18, c19, CAST(NULL AS BIGINT) AS c21, CAST(NULL AS BIGINT) AS c22, CAST(NULL AS VARCHAR) AS c23, CAST(NULL AS VARCHAR) AS c24, CAST(NULL AS VARCHAR) AS c25, c20 FROM 
(SELECT c17, c18, c19, (50)::BIGINT AS c20 FROM 
(SELECT c17, c18, c19 FROM 
(SELECT "trace" AS c17, "node" AS c18, "type" AS c16, "seq" AS c19, "family" AS c15 FROM "silver/events") WHERE ((c15 IN ('run')) AND (c16 IN ('node.started'))))))
UNION ALL SELECT c29 AS c7, c30 AS c8, c31 AS c9, c34 AS c10, c35 AS c4, c36 AS c13, c37 AS c11, c38 AS c3, c33 AS c14 FROM 
(SELECT c29, c30, c31, CAST(NULL AS BIGINT) AS c34, CAST(NULL AS BIGINT) AS c35, CAST(NULL AS VARCHAR) AS c36, CAST(NULL AS VARCHAR) AS c37, CAST(NULL AS VARCHAR) AS c38, c33 FROM 
(SELECT c29, c30, c31, text_to_bigint(c32) AS c33 FROM 
(SELECT c29, c30, c31, c26, c32 FROM 
(SELECT "trace" AS c29, "node" AS c30, "type" AS c28, "seq" AS c31, "name" AS c26, "value" AS c32, "family" AS c27 FROM "silver/events") WHERE ((c27 IN ('run')) AND (c28 IN ('setting.value')))) WHERE (c26 = 'Replication Outstanding Backfill Limit')))))))) WHERE (c4 IS NOT NULL))))))))))))) WHERE (c3 IN ('request.sent', 'request.ended', 'request.deferred'))) LEFT JOIN 
(SELECT * FROM 
(SELECT c64, c65, c51, list_sort(coalesce(list(DISTINCT c53) FILTER (WHERE c53 IS NOT NULL), []), 'ASC', 'NULLS LAST') AS c143 FROM 
(SELECT c64, c65, c51, c57, c54, c56, c52, c50, c53, c55, c58, c59, c60 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c64, c65, c51, c57, c54, c56, c52 FROM 
(SELECT c64, c65, c51, c57, c54, c61, c56, c52 FROM 
(SELECT c64, c65, c51, c57, c54, c61, c56, c52 FROM 
(SELECT * FROM 
(SELECT c64, c65, c51, c57, c54, c61, c56, c52 FROM 
(SELECT c64, c65, c51, c57, c54, c61, c56, c52 FROM 
(SELECT c64, c65, c51, c57, c54, c61, c56, c52, c56, c52 FROM 
(SELECT *, last_value(c94 IGNORE NULLS) OVER (PARTITION BY c64, c65, c54 ORDER BY c51 ASC NULLS FIRST RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS c56, min(c95) OVER (PARTITION BY c64, c65, c54 ORDER BY c51 ASC NULLS FIRST ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) AS c52 FROM 
(SELECT c64, c65, c51, c57, c54, c61, CASE WHEN ((c61 = 'entry.timed_out') OR ((c61 = 'sources.considered') AND (NOT coalesce(c93, FALSE)))) THEN c66 END AS c94, CASE WHEN ((c61 IN ('request.sent', 'entry.satisfied', 'entry.pruned')) OR coalesce(c69, FALSE)) THEN c51 END AS c95 FROM 
(SELECT c64, c65, c51, c66, c57, c54, c61, c69, c93 FROM 
(SELECT c64, c65, c51, c66, c57, c54, c61, c69, (c92 = 'request.deferred') AS c93 FROM 
(SELECT *, last_value(c91 IGNORE NULLS) OVER (PARTITION BY c64, c65, c54 ORDER BY c51 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS c92 FROM 
(SELECT c64, c65, c51, c66, c57, c54, c61, c69, CASE WHEN (c61 IN ('request.sent', 'request.deferred')) THEN c61 END AS c91 FROM 
(SELECT c64, c65, c51, c66, c57, c54, c61, c69 FROM 
(SELECT c64, c65, c51, c66, c57, c54, c61, c69 FROM 
(SELECT * FROM 
(SELECT c64, c65, c51, c66, c57, c54, c61, c69 FROM 
(SELECT c64 AS c64, c65 AS c65, c51 AS c51, c66 AS c66, c57 AS c57, c54 AS c54, c61 AS c61, c69 AS c69 FROM 
(SELECT c64, c65, c51, c66, c57, c54, c61, c69 FROM 
(SELECT c64, c65, c51, c66, c57, c67 AS c54, c63 AS c61, (coalesce(len(c68)::INTEGER, -1) = 0) AS c69 FROM 
(SELECT "trace" AS c64, "node" AS c65, "type" AS c63, "seq" AS c51, "at" AS c66, "folder" AS c57, "entry" AS c67, "chosen" AS c68, "family" AS c62 FROM "silver/events") WHERE ((c62 IN ('replication')) AND (c63 IN ('entry.timed_out', 'entry.satisfied', 'entry.pruned', 'sources.considered', 'request.sent', 'request.ended', 'request.deferred', 'content.resumed')))))
UNION ALL SELECT c72 AS c64, c73 AS c65, c74 AS c51, c75 AS c66, c76 AS c57, c77 AS c54, c78 AS c61, c79 AS c69 FROM 
(SELECT c72, c73, c74, CAST(NULL AS BIGINT) AS c75, CAST(NULL AS VARCHAR) AS c76, CAST(NULL AS BIGINT) AS c77, CAST(NULL AS VARCHAR) AS c78, CAST(NULL AS BOOLEAN) AS c79 FROM 
(SELECT c72, c73, c74 FROM 
(SELECT c72, c73, c74 FROM 
(SELECT "trace" AS c72, "node" AS c73, "type" AS c71, "seq" AS c74, "family" AS c70 FROM "silver/events") WHERE ((c70 IN ('run')) AND (c71 IN ('node.started'))))))
UNION ALL SELECT c83 AS c64, c84 AS c65, c85 AS c51, c86 AS c66, c87 AS c57, c88 AS c54, c89 AS c61, c90 AS c69 FROM 
(SELECT c83, c84, c85, CAST(NULL AS BIGINT) AS c86, CAST(NULL AS VARCHAR) AS c87, CAST(NULL AS BIGINT) AS c88, CAST(NULL AS VARCHAR) AS c89, CAST(NULL AS BOOLEAN) AS c90 FROM 
(SELECT c83, c84, c85 FROM 
(SELECT c83, c84, c85, c80 FROM 
(SELECT "trace" AS c83, "node" AS c84, "type" AS c82, "seq" AS c85, "name" AS c80, "family" AS c81 FROM "silver/events") WHERE ((c81 IN ('run')) AND (c82 IN ('setting.value')))) WHERE (c80 = 'Replication Outstanding Backfill Limit')))))))) WHERE (c54 IS NOT NULL))))))))))))) WHERE (c61 IN ('request.sent', 'request.ended', 'request.deferred')) AND (c61 = 'request.deferred'))) JOIN 
(SELECT * FROM 
(SELECT c102, c103, c104 AS c50, c99 AS c53, c137 AS c55, c106 AS c58, coalesce(((c141 IN ('2003', '2007')) AND (list_extract(list_filter(c140, lambda v142: ((v142)."seq" < c104)), (-1)))."on"), FALSE) AS c59, c60 FROM 
(SELECT c102, c103, c104, c106, c99, c60, c137, c140, c141 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c102, c103, c104, c106, c99, c96, c97, c98, c60, c137 FROM 
(SELECT c102, c103, c104, c106, c99, c96, c97, c98, c60, c137 FROM 
(SELECT * FROM 
(SELECT c102, c103, c104, c106, c99, c96, c97, c98, c60, c137 FROM 
(SELECT c102, c103, c104, c106, c99, c96, c97, c98, c60, c137 FROM 
(SELECT c102, c103, c104, c106, c99, c96, c97, c98, c60, c137, c137 FROM 
(SELECT *, last_value(c136 IGNORE NULLS) OVER (PARTITION BY c102, c103, c99 ORDER BY c104 ASC NULLS FIRST RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS c137 FROM 
(SELECT c102, c103, c104, c106, c99, c96, c97, c98, c60, CASE WHEN ((c96 = 'entry.timed_out') OR ((c96 = 'sources.considered') AND (NOT coalesce(c135, FALSE)))) THEN c105 END AS c136 FROM 
(SELECT c102, c103, c104, c105, c106, c99, c96, c97, c98, c60, c135 FROM 
(SELECT c102, c103, c104, c105, c106, c99, c96, c97, c98, c60, (c134 = 'request.deferred') AS c135 FROM 
(SELECT *, last_value(c133 IGNORE NULLS) OVER (PARTITION BY c102, c103, c99 ORDER BY c104 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS c134 FROM 
(SELECT c102, c103, c104, c105, c106, c99, c96, c97, c98, c60, CASE WHEN (c96 IN ('request.sent', 'request.deferred')) THEN c96 END AS c133 FROM 
(SELECT c102, c103, c104, c105, c106, c99, c96, c97, c98, c60 FROM 
(SELECT c102, c103, c104, c105, c106, c99, c96, c97, c98, c60, c97, c98, c60 FROM 
(SELECT *, wrapped(sum(c131) OVER (PARTITION BY c102, c103 ORDER BY c104 ASC NULLS FIRST RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)) AS c97, last_value(c108 IGNORE NULLS) OVER (PARTITION BY c102, c103 ORDER BY c104 ASC NULLS FIRST RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS c98, last_value(c132 IGNORE NULLS) OVER (PARTITION BY c102, c103 ORDER BY c104 ASC NULLS FIRST RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS c60 FROM 
(SELECT c102, c103, c104, c105, c106, c99, c96, c108, CASE WHEN (c96 = 'request.sent') THEN 1 WHEN (c96 = 'request.ended') THEN (-1) END AS c131, CASE WHEN (c96 = 'content.resumed') THEN c105 END AS c132 FROM 
(SELECT c102 AS c102, c103 AS c103, c104 AS c104, c105 AS c105, c106 AS c106, c99 AS c99, c96 AS c96, c108 AS c108 FROM 
(SELECT c102, c103, c104, c105, c106, c99, c96, CAST(NULL AS BIGINT) AS c108 FROM 
(SELECT c102, c103, c104, c105, c106, c107 AS c99, c101 AS c96 FROM 
(SELECT "trace" AS c102, "node" AS c103, "type" AS c101, "seq" AS c104, "at" AS c105, "folder" AS c106, "entry" AS c107, "family" AS c100 FROM "silver/events") WHERE ((c100 IN ('replication')) AND (c101 IN ('entry.timed_out', 'entry.satisfied', 'entry.pruned', 'sources.considered', 'request.sent', 'request.ended', 'request.deferred', 'content.resumed')))))
UNION ALL SELECT c111 AS c102, c112 AS c103, c113 AS c104, c115 AS c105, c116 AS c106, c117 AS c99, c118 AS c96, c114 AS c108 FROM 
(SELECT c111, c112, c113, CAST(NULL AS BIGINT) AS c115, CAST(NULL AS VARCHAR) AS c116, CAST(NULL AS BIGINT) AS c117, CAST(NULL AS VARCHAR) AS c118, c114 FROM 
(SELECT c111, c112, c113, (50)::BIGINT AS c114 FROM 
(SELECT c111, c112, c113 FROM 
(SELECT "trace" AS c111, "node" AS c112, "type" AS c110, "seq" AS c113, "family" AS c109 FROM "silver/events") WHERE ((c109 IN ('run')) AND (c110 IN ('node.started'))))))
UNION ALL SELECT c122 AS c102, c123 AS c103, c124 AS c104, c127 AS c105, c128 AS c106, c129 AS c99, c130 AS c96, c126 AS c108 FROM 
(SELECT c122, c123, c124, CAST(NULL AS BIGINT) AS c127, CAST(NULL AS VARCHAR) AS c128, CAST(NULL AS BIGINT) AS c129, CAST(NULL AS VARCHAR) AS c130, c126 FROM 
(SELECT c122, c123, c124, text_to_bigint(c125) AS c126 FROM 
(SELECT c122, c123, c124, c119, c125 FROM 
(SELECT "trace" AS c122, "node" AS c123, "type" AS c121, "seq" AS c124, "name" AS c119, "value" AS c125, "family" AS c120 FROM "silver/events") WHERE ((c120 IN ('run')) AND (c121 IN ('setting.value')))) WHERE (c119 = 'Replication Outstanding Backfill Limit')))))))) WHERE (c99 IS NOT NULL))))))))))))) WHERE (c96 IN ('request.sent', 'request.ended', 'request.deferred')) AND ((c96 = 'request.sent') AND (c97 >= c98))) LEFT JOIN 
(SELECT * FROM 
(SELECT "trace" AS c138, "node" AS c139, "switches" AS c140, "version" AS c141 FROM "evidence/node_states")) ON ((c102 = c138) AND (c103 = c139)))))) ON ((c64 = c102) AND (c65 = c103)))) WHERE ((((c50 > c51) AND ((c52 IS NULL) OR (c50 < c52))) AND (NOT (c53 = c54))) AND ((c55 > c56) AND (NOT coalesce((((NOT (c57 = '1-1')) AND (c58 = '1-1')) AND (c59 OR (c55 <= c60))), FALSE)))) GROUP BY c64, c65, c51)) ON (((c7 = c64) AND (c8 = c65)) AND (c9 = c51)))))) ANTI JOIN 
(SELECT * FROM 
(SELECT "trace" AS c144, "node" AS c145 FROM "evidence/restored")) ON ((c7 = c144) AND (c8 = c145))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c146, c147, TRUE AS c148 FROM 
(SELECT "trace" AS c146, "node" AS c147 FROM "evidence/plain"))) ON ((c7 = c146) AND (c8 = c147)))))) LEFT JOIN 
(SELECT * FROM 
(SELECT "trace" AS c150, "node" AS c151, "switches" AS c152, "version" AS c153 FROM "evidence/node_states")) ON ((c7 = c150) AND (c8 = c151))))) GROUP BY c7))))) WHERE (c1 > (0)::BIGINT));

-- table rules/requests needs mail.received
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c6 AS "trace", c110 AS "check", c1 AS "consumed", c111 AS "violations", c112 AS "at", c113 AS "witness" FROM (SELECT * FROM 
(SELECT c6, (c2)."check" AS c110, (c2)."consumed" AS c1, (c2)."violations" AS c111, (c2)."at" AS c112, (c2)."witness" AS c113 FROM 
(SELECT c6, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'requests are answered', 'consumed': c104, 'violations': c105, 'at': (c106)."at", 'witness': (c106)."words"}, {'check': 'answers have only what was requested', 'consumed': c107, 'violations': c108, 'at': (c109)."at", 'witness': (c109)."words"}]) AS uc2 FROM 
(SELECT c6, count(1) FILTER (WHERE c82) AS c104, count(1) FILTER (WHERE c83) AS c105, arg_min(CASE WHEN c83 THEN {'at': c81, 'words': c85} END, CASE WHEN c83 THEN {n0: c81 IS NOT NULL, v0: c81, n1: c85 IS NOT NULL, v1: c85} END) AS c106, count(1) FILTER (WHERE c87) AS c107, count(1) FILTER (WHERE c88) AS c108, arg_min(CASE WHEN c88 THEN {'at': c81, 'words': c96} END, CASE WHEN c88 THEN {n0: c81 IS NOT NULL, v0: c81, n1: c96 IS NOT NULL, v1: c96} END) AS c109 FROM 
(SELECT c6, c14 AS c81, coalesce((c75 OR (c28 IS NOT NULL)), FALSE) AS c82, CASE WHEN coalesce((c75 OR (c28 IS NOT NULL)), FALSE) THEN (NOT coalesce((((c28 = (1)::BIGINT) AND ((c29 = c14) OR (c37 > (0)::BIGINT))) OR (((c28 IS NULL) AND (c37 = c17)) AND coalesce(((c80 IN ('2003', '2007')) AND (list_extract(list_filter(c79, lambda v84: ((v84)."seq" < c15)), (-1)))."on"), FALSE))), FALSE)) ELSE FALSE END AS c83, CASE WHEN CASE WHEN coalesce((c75 OR (c28 IS NOT NULL)), FALSE) THEN (NOT coalesce((((c28 = (1)::BIGINT) AND ((c29 = c14) OR (c37 > (0)::BIGINT))) OR (((c28 IS NULL) AND (c37 = c17)) AND coalesce(((c80 IN ('2003', '2007')) AND (list_extract(list_filter(c79, lambda v86: ((v86)."seq" < c15)), (-1)))."on"), FALSE))), FALSE)) ELSE FALSE END THEN (c7 || CASE WHEN (c28 IS NULL) THEN ' did not answer' ELSE ' answered late or again' END || ' the request <' || c10 || '> of ' || c16) END AS c85, coalesce((c28 > (0)::BIGINT), FALSE) AS c87, CASE WHEN coalesce((c28 > (0)::BIGINT), FALSE) THEN (NOT coalesce(list_all(list_transform(c51, lambda v89: list_any(list_transform(list_reduce(list_transform(list_sort(list_transform(list_transform(c43, lambda v93: {'guid': (v93)."guid", 'low': (v93)."low", 'high': (v93)."high"}), lambda v94: {k: CASE WHEN v94 IS NOT NULL THEN {n0: (v94)."guid" IS NOT NULL, v0: (v94)."guid", n1: (v94)."low" IS NOT NULL, v1: (v94)."low", n2: (v94)."high" IS NOT NULL, v2: (v94)."high"} END, v: v94}), 'ASC', 'NULLS LAST'), lambda v94: v94.v), lambda v91, v92: CASE WHEN (((coalesce(len(v91)::INTEGER, -1) > 0) AND ((list_item(v91, (coalesce(len(v91)::INTEGER, -1) - 1)))."guid" = (v92)."guid")) AND ((list_item(v91, (coalesce(len(v91)::INTEGER, -1) - 1)))."high" >= subtract_wrapped((v92)."low", (1)::BIGINT))) THEN (list_part(v91, 1, (coalesce(len(v91)::INTEGER, -1) - 1)) || [{'guid': (v92)."guid", 'low': (list_item(v91, (coalesce(len(v91)::INTEGER, -1) - 1)))."low", 'high': greatest((list_item(v91, (coalesce(len(v91)::INTEGER, -1) - 1)))."high", (v92)."high")}]) ELSE (v91 || [v92]) END, CAST(CAST([] AS STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[]) AS STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[])), lambda v90: ((((v90)."guid" = (v89)."guid") AND ((v90)."low" <= (v89)."low")) AND ((v89)."high" <= (v90)."high")))))), FALSE)) ELSE FALSE END AS c88, CASE WHEN CASE WHEN coalesce((c28 > (0)::BIGINT), FALSE) THEN (NOT coalesce(list_all(list_transform(c51, lambda v97: list_any(list_transform(list_reduce(list_transform(list_sort(list_transform(list_transform(c43, lambda v101: {'guid': (v101)."guid", 'low': (v101)."low", 'high': (v101)."high"}), lambda v102: {k: CASE WHEN v102 IS NOT NULL THEN {n0: (v102)."guid" IS NOT NULL, v0: (v102)."guid", n1: (v102)."low" IS NOT NULL, v1: (v102)."low", n2: (v102)."high" IS NOT NULL, v2: (v102)."high"} END, v: v102}), 'ASC', 'NULLS LAST'), lambda v102: v102.v), lambda v99, v100: CASE WHEN (((coalesce(len(v99)::INTEGER, -1) > 0) AND ((list_item(v99, (coalesce(len(v99)::INTEGER, -1) - 1)))."guid" = (v100)."guid")) AND ((list_item(v99, (coalesce(len(v99)::INTEGER, -1) - 1)))."high" >= subtract_wrapped((v100)."low", (1)::BIGINT))) THEN (list_part(v99, 1, (coalesce(len(v99)::INTEGER, -1) - 1)) || [{'guid': (v100)."guid", 'low': (list_item(v99, (coalesce(len(v99)::INTEGER, -1) - 1)))."low", 'high': greatest((list_item(v99, (coalesce(len(v99)::INTEGER, -1) - 1)))."high", (v100)."high")}]) ELSE (v99 || [v100]) END, CAST(CAST([] AS STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[]) AS STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[])), lambda v98: ((((v98)."guid" = (v97)."guid") AND ((v98)."low" <= (v97)."low")) AND ((v97)."high" <= (v98)."high")))))), FALSE)) ELSE FALSE END THEN (c7 || ' answered <' || c10 || '> with more than was requested') END AS c96 FROM 
(SELECT c6, c7, c14, c10, c15, c16, c17, c28, c29, c37, c43, c51, c75, c79, c80 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c6, c7, c14, c10, c15, c16, c17, c28, c29, c37, c43, c51, c75 FROM 
(SELECT c6, c7, c14, c10, c15, c16, c17, c28, c29, c37, c43, c51, (c65 AND (NOT coalesce(list_any(list_transform(c18, lambda v76: list_contains(c74, (v76)."folder"))), FALSE))) AS c75 FROM 
(SELECT c6, c7, c14, c10, c15, c16, c17, c18, c28, c29, c37, c43, c51, c65, c74 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c6, c7, c10, c14, c15, c16, c17, c18, c28, c29, c37, c43, c51, c65 FROM 
(SELECT c6, c7, c10, c14, c15, c16, c17, c18, c28, c29, c37, c43, c51, ((c56 IS NULL) OR (coalesce((list_extract(list_filter(c56, lambda v66: (((v66)."store" = c7) AND ((v66)."seq" < c15))), (-1)))."has", FALSE) AND coalesce((list_extract(list_filter(c56, lambda v67: (((v67)."store" = c16) AND ((v67)."seq" < c15))), (-1)))."has", FALSE))) AS c65 FROM 
(SELECT c6, c7, c10, c14, c15, c16, c17, c18, c28, c29, c37, c43, c51, c56 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c6, c7, c10, c14, c15, c16, c17, c18, c28, c29, c37, c43, list_flattened(list_transform(list_filter(str_split(coalesce(c30, ''), ';'), lambda v53: (NOT (v53 = ''))), lambda v52: list_transform(str_split(split_part(v52, ':', 2), ','), lambda v54: {'guid': CASE WHEN ('message' = 'fai') THEN (split_part(v52, ':', 1) || ' fai') ELSE split_part(v52, ':', 1) END, 'low': text_to_bigint(split_part(v54, '-', 1)), 'high': text_to_bigint(split_part(v54, '-', (-1)))}))) AS c51 FROM 
(SELECT c6, c7, c10, c14, c15, c16, c17, c18, c28, c29, c30, c37, list_flattened(list_transform(c18, lambda v44: (list_flattened(list_transform(list_filter(str_split((v44)."cnset", ';'), lambda v46: (NOT (v46 = ''))), lambda v45: list_transform(str_split(split_part(v45, ':', 2), ','), lambda v47: {'guid': CASE WHEN ('message' = 'fai') THEN (split_part(v45, ':', 1) || ' fai') ELSE split_part(v45, ':', 1) END, 'low': text_to_bigint(split_part(v47, '-', 1)), 'high': text_to_bigint(split_part(v47, '-', (-1)))}))) || list_flattened(list_transform(list_filter(str_split((v44)."cnset_fai", ';'), lambda v49: (NOT (v49 = ''))), lambda v48: list_transform(str_split(split_part(v48, ':', 2), ','), lambda v50: {'guid': CASE WHEN ('message' = 'fai') THEN (split_part(v48, ':', 1) || ' fai') ELSE split_part(v48, ':', 1) END, 'low': text_to_bigint(split_part(v50, '-', 1)), 'high': text_to_bigint(split_part(v50, '-', (-1)))})))))) AS c43 FROM 
(SELECT c6, c7, c10, c14, c15, c16, c17, c18, c28, c29, c30, c37 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c6, c7, c10, c14, c15, c16, c17, c18, c28, c29, c30, c37 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c6, c7, c10, min(c9) AS c14, min(c8) AS c15, arg_min_null(c12, c8) AS c16, count(1) AS c17, arg_min_null(c13, c8) AS c18 FROM 
(SELECT c6, c7, c8, c9, c10, c12, c3, list_from_json(c11, '"STRUCT(\"folder\" VARCHAR, \"cnset\" VARCHAR, \"cnset_fai\" VARCHAR, \"row\" VARCHAR, \"row_fai\" VARCHAR, \"updates\" BIGINT, \"expired\" VARCHAR, \"expired_fai\" VARCHAR)[]"') AS c13 FROM 
(SELECT "trace" AS c6, "node" AS c7, "type" AS c5, "seq" AS c8, "at" AS c9, "mail" AS c10, "message_type" AS c3, "folders" AS c11, "sender" AS c12, "family" AS c4 FROM "silver/events") WHERE ((c4 IN ('mail')) AND (c5 IN ('mail.received')))) WHERE (c3 = (8)::BIGINT) GROUP BY c6, c7, c10)) LEFT JOIN 
(SELECT * FROM 
(SELECT coalesce(c21, c33) AS c38, coalesce(c22, c34) AS c39, coalesce(c27, c36) AS c40, c28, c29, c30, c37 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c21, c22, c26 AS c27, count(1) AS c28, min(c24) AS c29, arg_min_null(c25, c23) AS c30 FROM 
(SELECT c21, c22, c23, c24, c25, c26 FROM 
(SELECT "trace" AS c21, "node" AS c22, "type" AS c20, "seq" AS c23, "at" AS c24, "cnset" AS c25, "request_mail" AS c26, "family" AS c19 FROM "silver/events") WHERE ((c19 IN ('replication')) AND (c20 IN ('request.answered')))) GROUP BY c21, c22, c26)) FULL JOIN 
(SELECT * FROM 
(SELECT c33, c34, c35 AS c36, count(1) AS c37 FROM 
(SELECT c33, c34, c35 FROM 
(SELECT "trace" AS c33, "node" AS c34, "type" AS c32, "request_mail" AS c35, "family" AS c31 FROM "silver/events") WHERE ((c31 IN ('replication')) AND (c32 IN ('request.refused')))) GROUP BY c33, c34, c35)) ON (((c21 = c33) AND (c22 = c34)) AND (c27 = c36))))) ON (((c6 = c38) AND (c7 = c39)) AND (c10 = c40))))) ANTI JOIN 
(SELECT * FROM 
(SELECT "trace" AS c41, "node" AS c42 FROM "evidence/restored")) ON ((c6 = c41) AND (c7 = c42))))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c59, c60, list_transform(list_sort(list_transform(coalesce(list({'seq': c61, 'store': c62, 'has': c63}), []), lambda v64: {k: CASE WHEN v64 IS NOT NULL THEN {n0: (v64)."seq" IS NOT NULL, v0: (v64)."seq", n1: (v64)."store" IS NOT NULL, v1: (v64)."store", n2: (v64)."has" IS NOT NULL, v2: (v64)."has"} END, v: v64}), 'ASC', 'NULLS LAST'), lambda v64: v64.v) AS c56 FROM 
(SELECT c59, c60, c61, c62, (c58 = 'address.stamped') AS c63 FROM 
(SELECT c59, c58, c60, c61, c62 FROM 
(SELECT "trace" AS c59, "node" AS c60, "type" AS c58, "seq" AS c61, "store" AS c62, "family" AS c57 FROM "silver/events") WHERE ((c57 IN ('replication')) AND (c58 IN ('address.stamped', 'address.missing'))))) GROUP BY c59, c60) WHERE list_any(list_transform(c56, lambda v55: (NOT (v55)."has")))) ON ((c6 = c59) AND (c7 = c60))))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c70, c71, c72, coalesce(list(DISTINCT c73) FILTER (WHERE c73 IS NOT NULL), []) AS c74 FROM 
(SELECT c70, c71, c72, c73 FROM 
(SELECT "trace" AS c70, "node" AS c71, "type" AS c69, "at" AS c72, "folder" AS c73, "family" AS c68 FROM "silver/events") WHERE ((c68 IN ('replication')) AND (c69 IN ('tree.lacking')))) GROUP BY c70, c71, c72)) ON (((c6 = c70) AND (c7 = c71)) AND (c14 = c72))))))) LEFT JOIN 
(SELECT * FROM 
(SELECT "trace" AS c77, "node" AS c78, "switches" AS c79, "version" AS c80 FROM "evidence/node_states")) ON ((c6 = c77) AND (c7 = c78))))) GROUP BY c6))))) WHERE (c1 > (0)::BIGINT));

-- table rules/turns needs sources.considered
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c7 AS "trace", c63 AS "check", c1 AS "consumed", c64 AS "violations", c65 AS "at", c66 AS "witness" FROM (SELECT * FROM 
(SELECT c7, (c2)."check" AS c63, (c2)."consumed" AS c1, (c2)."violations" AS c64, (c2)."at" AS c65, (c2)."witness" AS c66 FROM 
(SELECT c7, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': '2000 asks the first complete source', 'consumed': c60, 'violations': c61, 'at': (c62)."at", 'witness': (c62)."words"}]) AS uc2 FROM 
(SELECT c7, count(1) FILTER (WHERE c57) AS c60, count(1) FILTER (WHERE c58) AS c61, arg_min(CASE WHEN c58 THEN {'at': c56, 'words': c59} END, CASE WHEN c58 THEN {n0: c56 IS NOT NULL, v0: c56, n1: c59 IS NOT NULL, v1: c59} END) AS c62 FROM 
(SELECT c7, c11 AS c56, coalesce(TRUE, FALSE) AS c57, CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce(list_contains_or_null(c51, c45), FALSE)) ELSE FALSE END AS c58, CASE WHEN CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce(list_contains_or_null(c51, c45), FALSE)) ELSE FALSE END THEN (c8 || ' asked ' || c45 || ' for entry ' || (c13)::VARCHAR || ', but ' || list_text(c51, ' or ') || ' comes first and has everything') END AS c59 FROM 
(SELECT c7, c8, c11, c13, c45, c51 FROM 
(SELECT c7, c8, c11, c13, c45, list_transform(list_filter(c4, lambda v53: ((v53)."key" = list_extract(list_transform(list_sort(list_transform(list_known(list_transform(c4, lambda v54: (v54)."key")), lambda v55: {k: CASE WHEN v55 IS NOT NULL THEN {n0: (v55)."group" IS NOT NULL, v0: (v55)."group", n1: (v55)."order" IS NOT NULL, v1: (v55)."order"} END, v: v55}), 'ASC', 'NULLS LAST'), lambda v55: v55.v), 1))), lambda v52: (v52)."store") AS c51 FROM 
(SELECT c7, c8, c11, c13, c45, coalesce(list(CASE WHEN (((NOT c15) AND list_all(list_transform(c38, lambda v49: list_any(list_transform(coalesce(c19, CAST([] AS STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[])), lambda v50: ((((v50)."guid" = (v49)."guid") AND ((v50)."low" <= (v49)."low")) AND ((v49)."high" <= (v50)."high"))))))) AND (NOT ((coalesce((c14)."passed_over", '') LIKE '%address%' ESCAPE '\') OR (coalesce((c14)."passed_over", '') LIKE '%folder tree%' ESCAPE '\')))) THEN {'key': {'group': (CASE WHEN (c22 = c27) THEN 1 WHEN (c20 IS NOT NULL) THEN 2 ELSE 3 END + CASE WHEN (c21 = '5.5') THEN 3 ELSE 0 END), 'order': CASE WHEN (c22 = c27) THEN coalesce(c16, (0)::BIGINT) ELSE coalesce(c20, c17, 4611686018427387904::BIGINT) END}, 'store': c9} END) FILTER (WHERE CASE WHEN (((NOT c15) AND list_all(list_transform(c38, lambda v49: list_any(list_transform(coalesce(c19, CAST([] AS STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[])), lambda v50: ((((v50)."guid" = (v49)."guid") AND ((v50)."low" <= (v49)."low")) AND ((v49)."high" <= (v50)."high"))))))) AND (NOT ((coalesce((c14)."passed_over", '') LIKE '%address%' ESCAPE '\') OR (coalesce((c14)."passed_over", '') LIKE '%folder tree%' ESCAPE '\')))) THEN {'key': {'group': (CASE WHEN (c22 = c27) THEN 1 WHEN (c20 IS NOT NULL) THEN 2 ELSE 3 END + CASE WHEN (c21 = '5.5') THEN 3 ELSE 0 END), 'order': CASE WHEN (c22 = c27) THEN coalesce(c16, (0)::BIGINT) ELSE coalesce(c20, c17, 4611686018427387904::BIGINT) END}, 'store': c9} END IS NOT NULL), []) AS c4, max(c18) AS c3 FROM 
(SELECT c7, c8, c10, c13, c9, c11, c12, c14, c15, c16, c17, c18, c19, c20, c21, c22, c27, c38, c45 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19, c20, c21, c22, c27 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT "trace" AS c7, "node" AS c8, "store" AS c9, "seq" AS c10, "at" AS c11, "folder" AS c12, "entry" AS c13, "method" AS c6, "what" AS c5, "stated" AS c14, "down" AS c15, "asked_at" AS c16, "transit" AS c17, "stale" AS c18, "row" AS c19, "affinity" AS c20, "version" AS c21, "site" AS c22 FROM "evidence/candidates") WHERE ((c5 = 'choice') AND (c6 = 'six groups'))) JOIN 
(SELECT * FROM 
(SELECT c23, c24 AS c26, c25 AS c27 FROM 
(SELECT "trace" AS c23, "store" AS c24, "site" AS c25 FROM "organization/servers"))) ON ((c7 = c23) AND (c8 = c26))))) JOIN 
(SELECT * FROM 
(SELECT c31, c32, c33, c34, c38, c45 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c31, c32, c33, c34, (list_flattened(list_transform(list_filter(str_split(coalesce(c36, ''), ';'), lambda v40: (NOT (v40 = ''))), lambda v39: list_transform(str_split(split_part(v39, ':', 2), ','), lambda v41: {'guid': CASE WHEN ('message' = 'fai') THEN (split_part(v39, ':', 1) || ' fai') ELSE split_part(v39, ':', 1) END, 'low': text_to_bigint(split_part(v41, '-', 1)), 'high': text_to_bigint(split_part(v41, '-', (-1)))}))) || list_flattened(list_transform(list_filter(str_split(coalesce(c37, ''), ';'), lambda v43: (NOT (v43 = ''))), lambda v42: list_transform(str_split(split_part(v42, ':', 2), ','), lambda v44: {'guid': CASE WHEN ('fai' = 'fai') THEN (split_part(v42, ':', 1) || ' fai') ELSE split_part(v42, ':', 1) END, 'low': text_to_bigint(split_part(v44, '-', 1)), 'high': text_to_bigint(split_part(v44, '-', (-1)))})))) AS c38, list_item(c35, 0) AS c45 FROM 
(SELECT c31, c32, c33, c34, c35, c28, c36, c37 FROM 
(SELECT "trace" AS c31, "node" AS c32, "type" AS c30, "seq" AS c33, "entry" AS c34, "chosen" AS c35, "method" AS c28, "missing" AS c36, "missing_fai" AS c37, "family" AS c29 FROM "silver/events") WHERE ((c29 IN ('replication')) AND (c30 IN ('sources.considered')))) WHERE (c28 = 'six groups'))) ANTI JOIN 
(SELECT * FROM 
(SELECT DISTINCT c46 FROM 
(SELECT c46 FROM 
(SELECT c46 FROM 
(SELECT "trace" AS c46, "type" AS c48, "family" AS c47 FROM "silver/events") WHERE ((c47 IN ('change')) AND (c48 IN ('item.expired'))))))) ON (c31 = c46)))) ON ((((c7 = c31) AND (c8 = c32)) AND (c10 = c33)) AND (c13 = c34)))) GROUP BY c7, c8, c10, c11, c12, c13, c45) WHERE ((NOT c3) AND (coalesce(len(c4)::INTEGER, -1) > 0))))) GROUP BY c7))))) WHERE (c1 > (0)::BIGINT));

-- table rules/requests_made needs request.sent
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c8 AS "trace", c96 AS "check", c1 AS "consumed", c97 AS "violations", c98 AS "at", c99 AS "witness" FROM (SELECT * FROM 
(SELECT c8, (c2)."check" AS c96, (c2)."consumed" AS c1, (c2)."violations" AS c97, (c2)."at" AS c98, (c2)."witness" AS c99 FROM 
(SELECT c8, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'no better source is passed over', 'consumed': c87, 'violations': c88, 'at': (c89)."at", 'witness': (c89)."words"}, {'check': 'leaving stores are asked last', 'consumed': c90, 'violations': c91, 'at': (c92)."at", 'witness': (c92)."words"}, {'check': 'sources are asked for what they claim', 'consumed': c93, 'violations': c94, 'at': (c95)."at", 'witness': (c95)."words"}]) AS uc2 FROM 
(SELECT c8, count(1) FILTER (WHERE c78) AS c87, count(1) FILTER (WHERE c79) AS c88, arg_min(CASE WHEN c79 THEN {'at': c77, 'words': c80} END, CASE WHEN c79 THEN {n0: c77 IS NOT NULL, v0: c77, n1: c80 IS NOT NULL, v1: c80} END) AS c89, count(1) FILTER (WHERE c81) AS c90, count(1) FILTER (WHERE c82) AS c91, arg_min(CASE WHEN c82 THEN {'at': c77, 'words': c83} END, CASE WHEN c82 THEN {n0: c77 IS NOT NULL, v0: c77, n1: c83 IS NOT NULL, v1: c83} END) AS c92, count(1) FILTER (WHERE c84) AS c93, count(1) FILTER (WHERE c85) AS c94, arg_min(CASE WHEN c85 THEN {'at': c77, 'words': c86} END, CASE WHEN c85 THEN {n0: c77 IS NOT NULL, v0: c77, n1: c86 IS NOT NULL, v1: c86} END) AS c95 FROM 
(SELECT c8, c11 AS c77, coalesce(((c50 IS NOT NULL) AND c47), FALSE) AS c78, CASE WHEN coalesce(((c50 IS NOT NULL) AND c47), FALSE) THEN (NOT coalesce((coalesce(len(c51)::INTEGER, -1) = 0), FALSE)) ELSE FALSE END AS c79, CASE WHEN CASE WHEN coalesce(((c50 IS NOT NULL) AND c47), FALSE) THEN (NOT coalesce((coalesce(len(c51)::INTEGER, -1) = 0), FALSE)) ELSE FALSE END THEN (c9 || ' asked ' || c15 || ' for entry ' || (c14)::VARCHAR || ', but ' || list_text(c51, ' and ') || ' come first and have it') END AS c80, coalesce(c73, FALSE) AS c81, CASE WHEN coalesce(c73, FALSE) THEN (NOT coalesce((coalesce(len(c62)::INTEGER, -1) = 0), FALSE)) ELSE FALSE END AS c82, CASE WHEN CASE WHEN coalesce(c73, FALSE) THEN (NOT coalesce((coalesce(len(c62)::INTEGER, -1) = 0), FALSE)) ELSE FALSE END THEN (c9 || ' asked ' || c15 || ', which left the folder, for entry ' || (c14)::VARCHAR || ', but ' || list_text(c62, ' and ') || ' had it') END AS c83, coalesce((c50 IS NOT NULL), FALSE) AS c84, CASE WHEN coalesce((c50 IS NOT NULL), FALSE) THEN (NOT coalesce(c74, FALSE)) ELSE FALSE END AS c85, CASE WHEN CASE WHEN coalesce((c50 IS NOT NULL), FALSE) THEN (NOT coalesce(c74, FALSE)) ELSE FALSE END THEN (c9 || ' asked ' || c15 || ' for numbers that its row does not claim, for entry ' || (c14)::VARCHAR) END AS c86 FROM 
(SELECT c8, c9, c11, c14, c15, (c48)."row" AS c50, c47, list_transform(list_filter(c39, lambda v53: (((v53)."passable" AND (CASE WHEN (v53)."key" IS NOT NULL THEN {n0: ((v53)."key")."down" IS NOT NULL, v0: ((v53)."key")."down", n1: ((v53)."key")."leaving" IS NOT NULL, v1: ((v53)."key")."leaving", n2: ((v53)."key")."not_preferred" IS NOT NULL, v2: ((v53)."key")."not_preferred", n3: ((v53)."key")."cost" IS NOT NULL, v3: ((v53)."key")."cost", n4: ((v53)."key")."newest" IS NOT NULL, v4: ((v53)."key")."newest"} END < CASE WHEN (c48)."key" IS NOT NULL THEN {n0: ((c48)."key")."down" IS NOT NULL, v0: ((c48)."key")."down", n1: ((c48)."key")."leaving" IS NOT NULL, v1: ((c48)."key")."leaving", n2: ((c48)."key")."not_preferred" IS NOT NULL, v2: ((c48)."key")."not_preferred", n3: ((c48)."key")."cost" IS NOT NULL, v3: ((c48)."key")."cost", n4: ((c48)."key")."newest" IS NOT NULL, v4: ((c48)."key")."newest"} END)) AND list_any(list_transform(c16, lambda v54: list_any(list_transform(coalesce((v53)."row", CAST([] AS STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[])), lambda v55: ((((v55)."guid" = (v54)."guid") AND ((v55)."low" <= (v54)."high")) AND (((v54)."low" <= (v55)."high") AND (NOT list_any(list_transform(list_reduce(list_transform(list_sort(list_transform(list_transform(coalesce((v53)."expired", CAST([] AS STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[])), lambda v59: {'guid': (v59)."guid", 'low': (v59)."low", 'high': (v59)."high"}), lambda v60: {k: CASE WHEN v60 IS NOT NULL THEN {n0: (v60)."guid" IS NOT NULL, v0: (v60)."guid", n1: (v60)."low" IS NOT NULL, v1: (v60)."low", n2: (v60)."high" IS NOT NULL, v2: (v60)."high"} END, v: v60}), 'ASC', 'NULLS LAST'), lambda v60: v60.v), lambda v57, v58: CASE WHEN (((coalesce(len(v57)::INTEGER, -1) > 0) AND ((list_item(v57, (coalesce(len(v57)::INTEGER, -1) - 1)))."guid" = (v58)."guid")) AND ((list_item(v57, (coalesce(len(v57)::INTEGER, -1) - 1)))."high" >= subtract_wrapped((v58)."low", (1)::BIGINT))) THEN (list_part(v57, 1, (coalesce(len(v57)::INTEGER, -1) - 1)) || [{'guid': (v58)."guid", 'low': (list_item(v57, (coalesce(len(v57)::INTEGER, -1) - 1)))."low", 'high': greatest((list_item(v57, (coalesce(len(v57)::INTEGER, -1) - 1)))."high", (v58)."high")}]) ELSE (v57 || [v58]) END, CAST(CAST([] AS STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[]) AS STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[])), lambda v56: ((((v56)."guid" = (v54)."guid") AND ((v56)."low" <= greatest((v54)."low", (v55)."low"))) AND (least((v54)."high", (v55)."high") <= (v56)."high"))))))))))))), lambda v52: (v52)."store") AS c51, list_transform(list_filter(c39, lambda v64: (((v64)."passable" AND (NOT (v64)."leaving")) AND ((NOT ((v64)."key")."down") AND list_any(list_transform(c16, lambda v65: list_any(list_transform(coalesce((v64)."row", CAST([] AS STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[])), lambda v66: ((((v66)."guid" = (v65)."guid") AND ((v66)."low" <= (v65)."high")) AND (((v65)."low" <= (v66)."high") AND (NOT list_any(list_transform(list_reduce(list_transform(list_sort(list_transform(list_transform(coalesce((v64)."expired", CAST([] AS STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[])), lambda v70: {'guid': (v70)."guid", 'low': (v70)."low", 'high': (v70)."high"}), lambda v71: {k: CASE WHEN v71 IS NOT NULL THEN {n0: (v71)."guid" IS NOT NULL, v0: (v71)."guid", n1: (v71)."low" IS NOT NULL, v1: (v71)."low", n2: (v71)."high" IS NOT NULL, v2: (v71)."high"} END, v: v71}), 'ASC', 'NULLS LAST'), lambda v71: v71.v), lambda v68, v69: CASE WHEN (((coalesce(len(v68)::INTEGER, -1) > 0) AND ((list_item(v68, (coalesce(len(v68)::INTEGER, -1) - 1)))."guid" = (v69)."guid")) AND ((list_item(v68, (coalesce(len(v68)::INTEGER, -1) - 1)))."high" >= subtract_wrapped((v69)."low", (1)::BIGINT))) THEN (list_part(v68, 1, (coalesce(len(v68)::INTEGER, -1) - 1)) || [{'guid': (v69)."guid", 'low': (list_item(v68, (coalesce(len(v68)::INTEGER, -1) - 1)))."low", 'high': greatest((list_item(v68, (coalesce(len(v68)::INTEGER, -1) - 1)))."high", (v69)."high")}]) ELSE (v68 || [v69]) END, CAST(CAST([] AS STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[]) AS STRUCT("guid" VARCHAR, "low" BIGINT, "high" BIGINT)[])), lambda v67: ((((v67)."guid" = (v65)."guid") AND ((v67)."low" <= greatest((v65)."low", (v66)."low"))) AND (least((v65)."high", (v66)."high") <= (v67)."high")))))))))))))), lambda v63: (v63)."store") AS c62, ((c48)."leaving" AND (NOT (c48)."unsure")) AS c73, list_all(list_transform(c16, lambda v75: list_any(list_transform((c48)."row", lambda v76: ((((v76)."guid" = (v75)."guid") AND ((v76)."low" <= (v75)."low")) AND ((v75)."high" <= (v76)."high")))))) AS c74 FROM 
(SELECT c8, c9, c11, c14, c15, c16, c39, c47, list_item(list_filter(c39, lambda v49: ((v49)."store" = c15)), 0) AS c48 FROM 
(SELECT c8, c9, c11, c14, c15, c16, c39, (c46 IS NOT NULL) AS c47 FROM 
(SELECT c8, c9, c11, c14, c15, c16, c39, c46 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c8, c9, c11, c14, c15, c16, c3, c39 FROM 
(SELECT c8, c9, c11, c14, c15, c16, c3, c39, c4 FROM 
(SELECT c8, c9, c11, c14, c15, c16, c3, c39, c4, c4 FROM 
(SELECT *, max(c3) OVER (PARTITION BY c8, c9, c5) AS c4 FROM 
(SELECT c8, c9, c11, c14, c5, c15, c16, c3, c39 FROM 
(SELECT c8, c9, c11, c14, c5, c15, c16, c3, c39 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c8, c9, c10 AS c5, c11, c14, c15, (list_flattened(list_transform(list_filter(str_split(c12, ';'), lambda v18: (NOT (v18 = ''))), lambda v17: list_transform(str_split(split_part(v17, ':', 2), ','), lambda v19: {'guid': CASE WHEN ('message' = 'fai') THEN (split_part(v17, ':', 1) || ' fai') ELSE split_part(v17, ':', 1) END, 'low': text_to_bigint(split_part(v19, '-', 1)), 'high': text_to_bigint(split_part(v19, '-', (-1)))}))) || list_flattened(list_transform(list_filter(str_split(c13, ';'), lambda v21: (NOT (v21 = ''))), lambda v20: list_transform(str_split(split_part(v20, ':', 2), ','), lambda v22: {'guid': CASE WHEN ('fai' = 'fai') THEN (split_part(v20, ':', 1) || ' fai') ELSE split_part(v20, ':', 1) END, 'low': text_to_bigint(split_part(v22, '-', 1)), 'high': text_to_bigint(split_part(v22, '-', (-1)))})))) AS c16 FROM 
(SELECT c8, c9, c10, c11, c14, c15, c12, c13 FROM 
(SELECT "trace" AS c8, "node" AS c9, "type" AS c7, "seq" AS c10, "at" AS c11, "cnset" AS c12, "cnset_fai" AS c13, "entry" AS c14, "source" AS c15, "family" AS c6 FROM "silver/events") WHERE ((c6 IN ('replication')) AND (c7 IN ('request.sent')))))) JOIN 
(SELECT * FROM 
(SELECT c24, c25, c3, c27, c29, coalesce(list({'store': c26, 'row': c34, 'expired': c31, 'leaving': c33, 'unsure': c35, 'key': {'down': c32, 'leaving': c33, 'not_preferred': (NOT c38), 'cost': coalesce(c36, 2147483648::BIGINT), 'newest': (-text_to_double(c37))}, 'passable': (NOT ((coalesce((c30)."passed_over", '') LIKE '%address%' ESCAPE '\') OR (coalesce((c30)."passed_over", '') LIKE '%folder tree%' ESCAPE '\')))}), []) AS c39 FROM 
(SELECT "trace" AS c24, "node" AS c25, "store" AS c26, "seq" AS c3, "at" AS c27, "folder" AS c28, "entry" AS c29, "what" AS c23, "stated" AS c30, "expired" AS c31, "down" AS c32, "leaving" AS c33, "row" AS c34, "unsure" AS c35, "cost" AS c36, "version" AS c37, "preferred" AS c38 FROM "evidence/candidates") WHERE (c23 = 'choice') GROUP BY c24, c25, c3, c27, c28, c29)) ON ((((c8 = c24) AND (c9 = c25)) AND (c11 = c27)) AND (c14 = c29)))) WHERE (c5 > c3))))) WHERE (c3 = c4))) LEFT JOIN 
(SELECT * FROM 
(SELECT c43, c44, c45, TRUE AS c46 FROM 
(SELECT c43, c44, c45, c40 FROM 
(SELECT "trace" AS c43, "node" AS c44, "type" AS c42, "seq" AS c45, "method" AS c40, "family" AS c41 FROM "silver/events") WHERE ((c41 IN ('replication')) AND (c42 IN ('sources.considered')))) WHERE (coalesce(c40, '') IN ('', 'sorted list')))) ON (((c8 = c43) AND (c9 = c44)) AND (c3 = c45)))))))) GROUP BY c8))))) WHERE (c1 > (0)::BIGINT));

-- table rules/candidates needs sources.considered
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c4 AS "trace", c55 AS "check", c1 AS "consumed", c56 AS "violations", c57 AS "at", c58 AS "witness" FROM (SELECT * FROM 
(SELECT c4, (c2)."check" AS c55, (c2)."consumed" AS c1, (c2)."violations" AS c56, (c2)."at" AS c57, (c2)."witness" AS c58 FROM 
(SELECT c4, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'candidates match the configuration', 'consumed': c37, 'violations': c38, 'at': (c39)."at", 'witness': (c39)."words"}, {'check': 'costs match the routes', 'consumed': c40, 'violations': c41, 'at': (c42)."at", 'witness': (c42)."words"}, {'check': 'affinities match the connectors', 'consumed': c43, 'violations': c44, 'at': (c45)."at", 'witness': (c45)."words"}, {'check': 'transmission times match the mails', 'consumed': c46, 'violations': c47, 'at': (c48)."at", 'witness': (c48)."words"}, {'check': 'the time of the last request is known', 'consumed': c49, 'violations': c50, 'at': (c51)."at", 'witness': (c51)."words"}, {'check': 'silent candidates are down', 'consumed': c52, 'violations': c53, 'at': (c54)."at", 'witness': (c54)."words"}]) AS uc2 FROM 
(SELECT c4, count(1) FILTER (WHERE c19) AS c37, count(1) FILTER (WHERE c20) AS c38, arg_min(CASE WHEN c20 THEN {'at': c18, 'words': c21} END, CASE WHEN c20 THEN {n0: c18 IS NOT NULL, v0: c18, n1: c21 IS NOT NULL, v1: c21} END) AS c39, count(1) FILTER (WHERE c22) AS c40, count(1) FILTER (WHERE c23) AS c41, arg_min(CASE WHEN c23 THEN {'at': c18, 'words': c24} END, CASE WHEN c23 THEN {n0: c18 IS NOT NULL, v0: c18, n1: c24 IS NOT NULL, v1: c24} END) AS c42, count(1) FILTER (WHERE c25) AS c43, count(1) FILTER (WHERE c26) AS c44, arg_min(CASE WHEN c26 THEN {'at': c18, 'words': c27} END, CASE WHEN c26 THEN {n0: c18 IS NOT NULL, v0: c18, n1: c27 IS NOT NULL, v1: c27} END) AS c45, count(1) FILTER (WHERE c28) AS c46, count(1) FILTER (WHERE c29) AS c47, arg_min(CASE WHEN c29 THEN {'at': c18, 'words': c30} END, CASE WHEN c29 THEN {n0: c18 IS NOT NULL, v0: c18, n1: c30 IS NOT NULL, v1: c30} END) AS c48, count(1) FILTER (WHERE c31) AS c49, count(1) FILTER (WHERE c32) AS c50, arg_min(CASE WHEN c32 THEN {'at': c18, 'words': c33} END, CASE WHEN c32 THEN {n0: c18 IS NOT NULL, v0: c18, n1: c33 IS NOT NULL, v1: c33} END) AS c51, count(1) FILTER (WHERE c34) AS c52, count(1) FILTER (WHERE c35) AS c53, arg_min(CASE WHEN c35 THEN {'at': c18, 'words': c36} END, CASE WHEN c35 THEN {n0: c18 IS NOT NULL, v0: c18, n1: c36 IS NOT NULL, v1: c36} END) AS c54 FROM 
(SELECT c4, c7 AS c18, coalesce(TRUE, FALSE) AS c19, CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce((((c10)."version" = c16) AND ((c10)."preferred" = c17)), FALSE)) ELSE FALSE END AS c20, CASE WHEN CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce((((c10)."version" = c16) AND ((c10)."preferred" = c17)), FALSE)) ELSE FALSE END THEN (c5 || ' treated ' || c6 || CASE WHEN (NOT ((c10)."version" = c16)) THEN (' as version ' || (c10)."version" || ', but it is ' || c16) ELSE CASE WHEN (c10)."preferred" THEN ' as its preferred source, but its settings do not say so' ELSE ' as not preferred, but its settings prefer it' END END) END AS c21, coalesce((((c10)."cost" IS NOT NULL) OR (c14 IS NOT NULL)), FALSE) AS c22, CASE WHEN coalesce((((c10)."cost" IS NOT NULL) OR (c14 IS NOT NULL)), FALSE) THEN (NOT coalesce(((c10)."cost" IS NOT DISTINCT FROM c14), FALSE)) ELSE FALSE END AS c23, CASE WHEN CASE WHEN coalesce((((c10)."cost" IS NOT NULL) OR (c14 IS NOT NULL)), FALSE) THEN (NOT coalesce(((c10)."cost" IS NOT DISTINCT FROM c14), FALSE)) ELSE FALSE END THEN (c5 || ' used the cost ' || coalesce(((c10)."cost")::VARCHAR, 'none') || ' for ' || c6 || ', but it is ' || coalesce((c14)::VARCHAR, 'none')) END AS c24, coalesce((c9 = 'six groups'), FALSE) AS c25, CASE WHEN coalesce((c9 = 'six groups'), FALSE) THEN (NOT coalesce(((c10)."affinity" IS NOT DISTINCT FROM c15), FALSE)) ELSE FALSE END AS c26, CASE WHEN CASE WHEN coalesce((c9 = 'six groups'), FALSE) THEN (NOT coalesce(((c10)."affinity" IS NOT DISTINCT FROM c15), FALSE)) ELSE FALSE END THEN (c5 || ' used the affinity ' || coalesce(((c10)."affinity")::VARCHAR, 'none') || ' for ' || c6 || ', but it is ' || coalesce((c15)::VARCHAR, 'none')) END AS c27, coalesce(((NOT (coalesce(c9, '') = '')) AND (((c10)."transit_us" IS NOT NULL) OR (c13 IS NOT NULL))), FALSE) AS c28, CASE WHEN coalesce(((NOT (coalesce(c9, '') = '')) AND (((c10)."transit_us" IS NOT NULL) OR (c13 IS NOT NULL))), FALSE) THEN (NOT coalesce((abs_wrapped(subtract_wrapped((c10)."transit_us", c13)) < (10000)::BIGINT), FALSE)) ELSE FALSE END AS c29, CASE WHEN CASE WHEN coalesce(((NOT (coalesce(c9, '') = '')) AND (((c10)."transit_us" IS NOT NULL) OR (c13 IS NOT NULL))), FALSE) THEN (NOT coalesce((abs_wrapped(subtract_wrapped((c10)."transit_us", c13)) < (10000)::BIGINT), FALSE)) ELSE FALSE END THEN (c5 || ' used ' || coalesce(((c10)."transit_us")::VARCHAR, 'unknown') || ' us as the transmission time from ' || c6 || ', but it is ' || coalesce((c13)::VARCHAR, 'unknown') || ' us') END AS c30, coalesce(((NOT (coalesce(c9, '') = '')) AND (((c10)."backfilled_at" > (0)::BIGINT) OR (c12 IS NOT NULL))), FALSE) AS c31, CASE WHEN coalesce(((NOT (coalesce(c9, '') = '')) AND (((c10)."backfilled_at" > (0)::BIGINT) OR (c12 IS NOT NULL))), FALSE) THEN (NOT coalesce(((c10)."backfilled_at" = coalesce(c12, (0)::BIGINT)), FALSE)) ELSE FALSE END AS c32, CASE WHEN CASE WHEN coalesce(((NOT (coalesce(c9, '') = '')) AND (((c10)."backfilled_at" > (0)::BIGINT) OR (c12 IS NOT NULL))), FALSE) THEN (NOT coalesce(((c10)."backfilled_at" = coalesce(c12, (0)::BIGINT)), FALSE)) ELSE FALSE END THEN (c5 || ' used ' || ((c10)."backfilled_at")::VARCHAR || ' as the time of its last request to ' || c6 || ', but it is ' || (coalesce(c12, (0)::BIGINT))::VARCHAR) END AS c33, coalesce(TRUE, FALSE) AS c34, CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce(((c10)."down" = c11), FALSE)) ELSE FALSE END AS c35, CASE WHEN CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce(((c10)."down" = c11), FALSE)) ELSE FALSE END THEN (c5 || ' treated ' || c6 || ' as ' || CASE WHEN (c10)."down" THEN 'down' ELSE 'up' END || ' in the choice for entry ' || (c8)::VARCHAR) END AS c36 FROM 
(SELECT "trace" AS c4, "node" AS c5, "store" AS c6, "at" AS c7, "entry" AS c8, "method" AS c9, "what" AS c3, "stated" AS c10, "down" AS c11, "asked_at" AS c12, "transit" AS c13, "cost" AS c14, "affinity" AS c15, "version" AS c16, "preferred" AS c17 FROM "evidence/candidates") WHERE (c3 = 'choice')) GROUP BY c4))))) WHERE (c1 > (0)::BIGINT));

-- table rules/marks_down needs source.down
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c6 AS "trace", c40 AS "check", c1 AS "consumed", c41 AS "violations", c42 AS "at", c43 AS "witness" FROM (SELECT * FROM 
(SELECT c6, (c2)."check" AS c40, (c2)."consumed" AS c1, (c2)."violations" AS c41, (c2)."at" AS c42, (c2)."witness" AS c43 FROM 
(SELECT c6, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'only silent sources are marked down', 'consumed': c37, 'violations': c38, 'at': (c39)."at", 'witness': (c39)."words"}]) AS uc2 FROM 
(SELECT c6, count(1) FILTER (WHERE c34) AS c37, count(1) FILTER (WHERE c35) AS c38, arg_min(CASE WHEN c35 THEN {'at': c33, 'words': c36} END, CASE WHEN c35 THEN {n0: c33 IS NOT NULL, v0: c33, n1: c36 IS NOT NULL, v1: c36} END) AS c39 FROM 
(SELECT c6, c30 AS c33, coalesce(TRUE, FALSE) AS c34, CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce(c31, FALSE)) ELSE FALSE END AS c35, CASE WHEN CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce(c31, FALSE)) ELSE FALSE END THEN (c7 || ' marked ' || c12 || ' down, but no request to it had timed out') END AS c36 FROM 
(SELECT c6, c7, c12, (c3)."at" AS c30, list_any(list_transform(c28, lambda v32: ((((v32)."what" = 'ask') AND ((v32)."seq" < (c3)."seq")) AND ((v32)."retry_at" <= (c3)."at")))) AS c31 FROM 
(SELECT c6, c7, c12, c28, c3 FROM 
(SELECT * EXCLUDE (uc3), uc3 AS c3 FROM (SELECT *, unnest(list_filter(c28, lambda v29: ((v29)."what" = 'down'))) AS uc3 FROM 
(SELECT c6, c7, c12, coalesce(list({'seq': c8, 'at': c9, 'what': c13, 'retry_at': c10}), []) AS c28 FROM 
(SELECT c6 AS c6, c7 AS c7, c12 AS c12, c8 AS c8, c9 AS c9, c13 AS c13, c10 AS c10 FROM 
(SELECT c6, c7, c12, c8, c9, c13, c10 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c6, c7, c8, c9, c11 AS c12, 'ask' AS c13, c10 FROM 
(SELECT c6, c7, c8, c9, c11, c10 FROM 
(SELECT "trace" AS c6, "node" AS c7, "type" AS c5, "seq" AS c8, "at" AS c9, "retry_at" AS c10, "source" AS c11, "family" AS c4 FROM "silver/events") WHERE ((c4 IN ('replication')) AND (c5 IN ('request.sent')))))) SEMI JOIN 
(SELECT * FROM 
(SELECT DISTINCT c14, c15, c16 FROM 
(SELECT c14, c15, c16 FROM 
(SELECT c14, c15, c16 FROM 
(SELECT c14, c15, c16 FROM 
(SELECT "trace" AS c14, "node" AS c15, "type" AS c18, "store" AS c16, "family" AS c17 FROM "silver/events") WHERE ((c17 IN ('replication')) AND (c18 IN ('source.down')))))))) ON (((c6 = c14) AND (c7 = c15)) AND (c12 = c16))))
UNION ALL SELECT c21 AS c6, c22 AS c7, c25 AS c12, c23 AS c8, c24 AS c9, c26 AS c13, c27 AS c10 FROM 
(SELECT c21, c22, c25, c23, c24, c26, CAST(NULL AS BIGINT) AS c27 FROM 
(SELECT c21, c22, c23, c24, c25, 'down' AS c26 FROM 
(SELECT c21, c22, c23, c24, c25 FROM 
(SELECT "trace" AS c21, "node" AS c22, "type" AS c20, "seq" AS c23, "at" AS c24, "store" AS c25, "family" AS c19 FROM "silver/events") WHERE ((c19 IN ('replication')) AND (c20 IN ('source.down'))))))) GROUP BY c6, c7, c12)))))) GROUP BY c6))))) WHERE (c1 > (0)::BIGINT));

-- table rules/stamps needs address.stamped
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c5 AS "trace", c56 AS "check", c1 AS "consumed", c57 AS "violations", c58 AS "at", c59 AS "witness" FROM (SELECT * FROM 
(SELECT c5, (c2)."check" AS c56, (c2)."consumed" AS c1, (c2)."violations" AS c57, (c2)."at" AS c58, (c2)."witness" AS c59 FROM 
(SELECT c5, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'addresses are those of the recipient policies', 'consumed': c53, 'violations': c54, 'at': (c55)."at", 'witness': (c55)."words"}]) AS uc2 FROM 
(SELECT c5, count(1) FILTER (WHERE c50) AS c53, count(1) FILTER (WHERE c51) AS c54, arg_min(CASE WHEN c51 THEN {'at': c49, 'words': c52} END, CASE WHEN c51 THEN {n0: c49 IS NOT NULL, v0: c49, n1: c52 IS NOT NULL, v1: c52} END) AS c55 FROM 
(SELECT c5, c8 AS c49, coalesce(TRUE, FALSE) AS c50, CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce(c48, FALSE)) ELSE FALSE END AS c51, CASE WHEN CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce(c48, FALSE)) ELSE FALSE END THEN (c6 || ' knows ' || c9 || ' by the address ' || c10 || ', which no recipient policy gave it then') END AS c52 FROM 
(SELECT c5, c6, c8, c9, c10, max(c46) AS c48 FROM 
(SELECT c5, c9, c6, c7, c8, c10, coalesce(((c44 = split_part(c10, '@', -1)) AND (list_any(list_transform(coalesce(c16, CAST([] AS STRUCT("since" BIGINT, "until" BIGINT)[])), lambda v47: ((c8 >= (v47)."since") AND (c8 <= (v47)."until")))) OR ((c32 <= add_wrapped(c8, CASE WHEN coalesce(c15, FALSE) THEN (900000000)::BIGINT ELSE 3600000000::BIGINT END)) AND ((c43 IS NULL) OR (c8 <= add_wrapped(greatest(c43, c12), CASE WHEN coalesce(c15, FALSE) THEN (900000000)::BIGINT ELSE 3600000000::BIGINT END)))))), FALSE) AS c46 FROM 
(SELECT c5, c9, c6, c7, c8, c10, c12, c15, c16, c32, c43, c44 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c5, c6, c7, c8, c9, c10, c12, c15, c16 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c5, c6, c7, c8, c9, c10, c12 FROM 
(SELECT c5, c6, c7, c8, c3, c9, c10, c12 FROM 
(SELECT c5, c6, c7, c8, c3, c9, c10, c12, c12 FROM 
(SELECT *, last_value(c11 IGNORE NULLS) OVER (PARTITION BY c5, c6 ORDER BY c7 ASC NULLS FIRST RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS c12 FROM 
(SELECT c5, c6, c7, c8, c3, c9, c10, CASE WHEN (c3 = 'node.started') THEN c8 END AS c11 FROM 
(SELECT c5, c6, c7, c8, c3, c9, c10 FROM 
(SELECT "trace" AS c5, "node" AS c6, "type" AS c3, "seq" AS c7, "at" AS c8, "store" AS c9, "address" AS c10, "family" AS c4 FROM "silver/events") WHERE ((c4 IN ('replication', 'run')) AND (c3 IN ('address.stamped', 'node.started')))))))) WHERE (c3 = 'address.stamped'))) LEFT JOIN 
(SELECT * FROM 
(SELECT c13, c14, c15, c16 FROM 
(SELECT "trace" AS c13, "node" AS c14, "exact" AS c15, "hindered" AS c16 FROM "evidence/nodes"))) ON ((c5 = c13) AND (c6 = c14))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c17, c18, c32, c43, coalesce((list_extract(list_filter(c29, lambda v45: ((((coalesce(coalesce(len((v45)."sites")::INTEGER, -1), 0) <= 0) OR list_contains_or_null((v45)."sites", c19)) AND ((coalesce(coalesce(len((v45)."servers")::INTEGER, -1), 0) <= 0) OR list_contains_or_null((v45)."servers", c18))) AND ((coalesce(coalesce(len((v45)."versions")::INTEGER, -1), 0) <= 0) OR list_contains_or_null((v45)."versions", c20)))), 1))."domain", c28) AS c44 FROM 
(SELECT c17, c18, c19, c20, c32, c28, c29, c43 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c17, c18, c19, c20 FROM 
(SELECT "trace" AS c17, "store" AS c18, "site" AS c19, "version" AS c20 FROM "organization/servers"))) JOIN 
(SELECT * FROM 
(SELECT c23, c32, c28, c29, c43 FROM 
(SELECT c23, c32, c28, c29, c43 FROM 
(SELECT c23, c32, c28, c29, c43, c43 FROM 
(SELECT *, lead(c32, 1, NULL) OVER (PARTITION BY c23 ORDER BY c32 ASC NULLS FIRST, c31 ASC NULLS FIRST ROWS BETWEEN 1 FOLLOWING AND 1 FOLLOWING) AS c43 FROM 
(SELECT c23, c31, c32, c28, c29 FROM 
(SELECT c23 AS c23, c31 AS c31, c32 AS c32, c28 AS c28, c29 AS c29 FROM 
(SELECT c23, (c25)::BIGINT AS c31, (c26)::BIGINT AS c32, c28, c29 FROM 
(SELECT c23, c25, c26, (c27)."domain" AS c28, list_transform(coalesce((c27)."recipient_policies", CAST([] AS STRUCT("domain" VARCHAR, "filter" STRUCT("sites" VARCHAR[], "servers" VARCHAR[], "versions" VARCHAR[]))[])), lambda v30: {'domain': (v30)."domain", 'sites': ((v30)."filter")."sites", 'servers': ((v30)."filter")."servers", 'versions': ((v30)."filter")."versions"}) AS c29 FROM 
(SELECT c23, 0 AS c25, 0 AS c26, struct_from_json(c24, '"STRUCT(\"domain\" VARCHAR, \"recipient_policies\" STRUCT(\"domain\" VARCHAR, \"filter\" STRUCT(\"sites\" VARCHAR[], \"servers\" VARCHAR[], \"versions\" VARCHAR[]))[])"') AS c27 FROM 
(SELECT c23, c24 FROM 
(SELECT "trace" AS c23, "type" AS c22, "topology" AS c24, "family" AS c21 FROM "silver/events") WHERE ((c21 IN ('run')) AND (c22 IN ('run.started')))))))
UNION ALL SELECT c35 AS c23, c36 AS c31, c40 AS c32, c38 AS c28, c41 AS c29 FROM 
(SELECT c35, c36, c40, c38, c41 FROM 
(SELECT c35, c36, c37 AS c40, c38, list_transform(coalesce(c39, CAST([] AS STRUCT("name" VARCHAR, "domain" VARCHAR, "sites" VARCHAR[], "servers" VARCHAR[], "versions" VARCHAR[])[])), lambda v42: {'domain': (v42)."domain", 'sites': (v42)."sites", 'servers': (v42)."servers", 'versions': (v42)."versions"}) AS c41 FROM 
(SELECT c35, c36, c37, c38, c39 FROM 
(SELECT "trace" AS c35, "type" AS c34, "seq" AS c36, "at" AS c37, "domain" AS c38, "policies" AS c39, "family" AS c33 FROM "silver/events") WHERE ((c33 IN ('run')) AND (c34 IN ('recipient.policy'))))))))))))) ON (c17 = c23))))) ON ((c5 = c17) AND (c9 = c18))))) GROUP BY c5, c6, c7, c8, c9, c10)) GROUP BY c5))))) WHERE (c1 > (0)::BIGINT));

-- table rules/received needs mail.received
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c5 AS "trace", c82 AS "check", c1 AS "consumed", c83 AS "violations", c84 AS "at", c85 AS "witness" FROM (SELECT * FROM 
(SELECT c5, (c2)."check" AS c82, (c2)."consumed" AS c1, (c2)."violations" AS c83, (c2)."at" AS c84, (c2)."witness" AS c85 FROM 
(SELECT c5, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'mails come only from stores in the directory', 'consumed': c70, 'violations': c71, 'at': (c72)."at", 'witness': (c72)."words"}, {'check': 'mails are read as they were written', 'consumed': c73, 'violations': c74, 'at': (c75)."at", 'witness': (c75)."words"}, {'check': 'mails are received after they are sent', 'consumed': c76, 'violations': c77, 'at': (c78)."at", 'witness': (c78)."words"}, {'check': 'lab times follow mails', 'consumed': c79, 'violations': c80, 'at': (c81)."at", 'witness': (c81)."words"}]) AS uc2 FROM 
(SELECT c5, count(1) FILTER (WHERE c56) AS c70, count(1) FILTER (WHERE c57) AS c71, arg_min(CASE WHEN c57 THEN {'at': c55, 'words': c59} END, CASE WHEN c57 THEN {n0: c55 IS NOT NULL, v0: c55, n1: c59 IS NOT NULL, v1: c59} END) AS c72, count(1) FILTER (WHERE c61) AS c73, count(1) FILTER (WHERE c62) AS c74, arg_min(CASE WHEN c62 THEN {'at': c55, 'words': c63} END, CASE WHEN c62 THEN {n0: c55 IS NOT NULL, v0: c55, n1: c63 IS NOT NULL, v1: c63} END) AS c75, count(1) FILTER (WHERE c64) AS c76, count(1) FILTER (WHERE c65) AS c77, arg_min(CASE WHEN c65 THEN {'at': c55, 'words': c66} END, CASE WHEN c65 THEN {n0: c55 IS NOT NULL, v0: c55, n1: c66 IS NOT NULL, v1: c66} END) AS c78, count(1) FILTER (WHERE c67) AS c79, count(1) FILTER (WHERE c68) AS c80, arg_min(CASE WHEN c68 THEN {'at': c55, 'words': c69} END, CASE WHEN c68 THEN {n0: c55 IS NOT NULL, v0: c55, n1: c69 IS NOT NULL, v1: c69} END) AS c81 FROM 
(SELECT c5, c9 AS c55, coalesce((c54 IS NOT NULL), FALSE) AS c56, CASE WHEN coalesce((c54 IS NOT NULL), FALSE) THEN (NOT coalesce(list_any(list_transform(map_values(c54), lambda v58: ((((v58)."store" = c14) AND ((v58)."first" < c7)) AND (NOT coalesce((((v58)."deleted" > (v58)."last") AND ((v58)."deleted" < c7)), FALSE))))), FALSE)) ELSE FALSE END AS c57, CASE WHEN CASE WHEN coalesce((c54 IS NOT NULL), FALSE) THEN (NOT coalesce(list_any(list_transform(map_values(c54), lambda v60: ((((v60)."store" = c14) AND ((v60)."first" < c7)) AND (NOT coalesce((((v60)."deleted" > (v60)."last") AND ((v60)."deleted" < c7)), FALSE))))), FALSE)) ELSE FALSE END THEN (c6 || ' accepted <' || c10 || '> from ' || c14 || ', which its directory does not list') END AS c59, coalesce(TRUE, FALSE) AS c61, CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce((((c29 = c14) AND (c30 = c15)) AND ((c31 = c16) AND (c32 = c11))), FALSE)) ELSE FALSE END AS c62, CASE WHEN CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce((((c29 = c14) AND (c30 = c15)) AND ((c31 = c16) AND (c32 = c11))), FALSE)) ELSE FALSE END THEN (c6 || ' read in <' || c10 || '> what ' || c14 || ' did not write') END AS c63, coalesce((c33 IS NOT NULL), FALSE) AS c64, CASE WHEN coalesce((c33 IS NOT NULL), FALSE) THEN (NOT coalesce((c8 > c34), FALSE)) ELSE FALSE END AS c65, CASE WHEN CASE WHEN coalesce((c33 IS NOT NULL), FALSE) THEN (NOT coalesce((c8 > c34), FALSE)) ELSE FALSE END THEN (c6 || ' received <' || c10 || '> before it was sent') END AS c66, coalesce((c50 AND (c33 IS NOT NULL)), FALSE) AS c67, CASE WHEN coalesce((c50 AND (c33 IS NOT NULL)), FALSE) THEN (NOT coalesce((c9 >= subtract_wrapped(c33, (900000000)::BIGINT)), FALSE)) ELSE FALSE END AS c68, CASE WHEN CASE WHEN coalesce((c50 AND (c33 IS NOT NULL)), FALSE) THEN (NOT coalesce((c9 >= subtract_wrapped(c33, (900000000)::BIGINT)), FALSE)) ELSE FALSE END THEN (c6 || ' received <' || c10 || '> at an earlier lab time than ' || c29 || ' submitted it') END AS c69 FROM 
(SELECT c5, c6, c29, c10, c7, c8, c9, c14, c11, c15, c16, c30, c31, c32, c33, c34, c50, c54 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c5, c29, c6, c10, c7, c8, c9, c14, c11, c15, c16, c30, c31, c32, c33, c34, c50 FROM 
(SELECT c5, c29, c6, c10, c7, c8, c9, c14, c11, c15, c16, c30, c31, c32, c33, c34, (c42 AND coalesce((c49 AND (NOT list_any(list_transform(coalesce(c47, CAST([] AS STRUCT("since" BIGINT, "until" BIGINT)[])), lambda v51: ((c33 >= (v51)."since") AND (c33 <= (v51)."until")))))), FALSE)) AS c50 FROM 
(SELECT c5, c29, c6, c10, c7, c8, c9, c14, c11, c15, c16, c30, c31, c32, c33, c34, c42, c49, c47 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c5, c6, c10, c7, c8, c9, c14, c11, c15, c16, c29, c30, c31, c32, c33, c34, c42 FROM 
(SELECT c5, c6, c10, c7, c8, c9, c14, c11, c15, c16, c29, c30, c31, c32, c33, c34, (c35 AND coalesce((c41 AND (NOT list_any(list_transform(coalesce(c39, CAST([] AS STRUCT("since" BIGINT, "until" BIGINT)[])), lambda v43: ((c9 >= (v43)."since") AND (c9 <= (v43)."until")))))), FALSE)) AS c42 FROM 
(SELECT c5, c6, c10, c7, c8, c9, c14, c11, c15, c16, c29, c30, c31, c32, c33, c34, c35, c41, c39 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c5, c10, c6, c7, c8, c9, c14, c11, c15, c16, c29, c30, c31, c32, c33, c34, TRUE AS c35 FROM 
(SELECT c5, c10, c6, c7, c8, c9, c14, c11, c15, c16, c29, c30, c31, c32, c33, c34 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c5, c6, c7, c8, c9, c10, c14, c11, list_from_json(c12, '"STRUCT(\"folder\" VARCHAR, \"cnset\" VARCHAR, \"cnset_fai\" VARCHAR, \"row\" VARCHAR, \"row_fai\" VARCHAR, \"updates\" BIGINT, \"expired\" VARCHAR, \"expired_fai\" VARCHAR)[]"') AS c15, text_to_bigint(c13) AS c16 FROM 
(SELECT "trace" AS c5, "node" AS c6, "type" AS c4, "seq" AS c7, "lamport" AS c8, "at" AS c9, "mail" AS c10, "message_type" AS c11, "folders" AS c12, "number" AS c13, "sender" AS c14, "family" AS c3 FROM "silver/events") WHERE ((c3 IN ('mail')) AND (c4 IN ('mail.received'))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c19, c23, c20 AS c29, c27 AS c30, c28 AS c31, c24 AS c32, c22 AS c33, c21 AS c34 FROM 
(SELECT c19, c20, c21, c22, c23, c24, list_from_json(c25, '"STRUCT(\"folder\" VARCHAR, \"cnset\" VARCHAR, \"cnset_fai\" VARCHAR, \"row\" VARCHAR, \"row_fai\" VARCHAR, \"updates\" BIGINT, \"expired\" VARCHAR, \"expired_fai\" VARCHAR)[]"') AS c27, text_to_bigint(c26) AS c28 FROM 
(SELECT "trace" AS c19, "node" AS c20, "type" AS c18, "lamport" AS c21, "at" AS c22, "mail" AS c23, "message_type" AS c24, "folders" AS c25, "number" AS c26, "family" AS c17 FROM "silver/events") WHERE ((c17 IN ('mail')) AND (c18 IN ('mail.submitted')))))) ON ((c5 = c19) AND (c10 = c23)))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c36, c37 AS c40, c38 AS c41, c39 FROM 
(SELECT "trace" AS c36, "node" AS c37, "exact" AS c38, "skews" AS c39 FROM "evidence/nodes"))) ON ((c5 = c36) AND (c6 = c40))))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c44, c45 AS c48, c46 AS c49, c47 FROM 
(SELECT "trace" AS c44, "node" AS c45, "exact" AS c46, "skews" AS c47 FROM "evidence/nodes"))) ON ((c5 = c44) AND (c29 = c48))))))) LEFT JOIN 
(SELECT * FROM 
(SELECT "trace" AS c52, "node" AS c53, "directory" AS c54 FROM "evidence/node_states")) ON ((c5 = c52) AND (c6 = c53))))) GROUP BY c5))))) WHERE (c1 > (0)::BIGINT));

-- table rules/ordinary_mails needs hop.sent
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c7 AS "trace", c32 AS "check", c1 AS "consumed", c33 AS "violations", c34 AS "at", c35 AS "witness" FROM (SELECT * FROM 
(SELECT c7, (c2)."check" AS c32, (c2)."consumed" AS c1, (c2)."violations" AS c33, (c2)."at" AS c34, (c2)."witness" AS c35 FROM 
(SELECT c7, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'ordinary mail is not read as replication mail', 'consumed': c29, 'violations': c30, 'at': (c31)."at", 'witness': (c31)."words"}]) AS uc2 FROM 
(SELECT c7, count(1) FILTER (WHERE c26) AS c29, count(1) FILTER (WHERE c27) AS c30, arg_min(CASE WHEN c27 THEN {'at': c25, 'words': c28} END, CASE WHEN c27 THEN {n0: c25 IS NOT NULL, v0: c25, n1: c28 IS NOT NULL, v1: c28} END) AS c31 FROM 
(SELECT c7, c9 AS c25, coalesce(TRUE, FALSE) AS c26, CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce((NOT c24), FALSE)) ELSE FALSE END AS c27, CASE WHEN CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce((NOT c24), FALSE)) ELSE FALSE END THEN (c10 || ' read <' || c4 || '>, which ' || c8 || ' had sent as ordinary mail') END AS c28 FROM 
(SELECT c7, c4, c10, c8, c9, coalesce(c23, FALSE) AS c24 FROM 
(SELECT c7, c4, c10, c8, c9, c23 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c7, c4, c10, c8, c9 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c7, c8, c9, c4, c10 FROM 
(SELECT c7, c8, c9, c4, c10, c3 FROM 
(SELECT "trace" AS c7, "node" AS c8, "type" AS c6, "at" AS c9, "mail" AS c4, "next_hop" AS c10, "ordinary" AS c3, "family" AS c5 FROM "silver/events") WHERE ((c5 IN ('mail')) AND (c6 IN ('hop.sent')))) WHERE ((NOT (c3 = '')) AND (c4 IS NOT NULL)))) ANTI JOIN 
(SELECT * FROM 
(SELECT c14, c15, c16 FROM 
(SELECT c14, c15, c16, c11 FROM 
(SELECT "trace" AS c14, "type" AS c13, "mail" AS c15, "next_hop" AS c16, "ordinary" AS c11, "family" AS c12 FROM "silver/events") WHERE ((c12 IN ('mail')) AND (c13 IN ('hop.sent')))) WHERE (coalesce(c11, '') = ''))) ON (((c7 = c14) AND (c4 = c15)) AND (c10 = c16))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c17, c18, c19, TRUE AS c23 FROM 
(SELECT DISTINCT c17, c18, c19 FROM 
(SELECT c17, c18, c22 AS c19 FROM 
(SELECT c17, c22, c18 FROM 
(SELECT "trace" AS c17, "node" AS c22, "type" AS c21, "mail" AS c18, "family" AS c20 FROM "silver/events") WHERE ((c20 IN ('mail')) AND (c21 IN ('mail.received')))))))) ON (((c7 = c17) AND (c4 = c18)) AND (c10 = c19)))))) GROUP BY c7))))) WHERE (c1 > (0)::BIGINT));

-- table rules/posts needs mail.posted
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c5 AS "trace", c31 AS "check", c1 AS "consumed", c32 AS "violations", c33 AS "at", c34 AS "witness" FROM (SELECT * FROM 
(SELECT c5, (c2)."check" AS c31, (c2)."consumed" AS c1, (c2)."violations" AS c32, (c2)."at" AS c33, (c2)."witness" AS c34 FROM 
(SELECT c5, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'a mail becomes one post', 'consumed': c28, 'violations': c29, 'at': (c30)."at", 'witness': (c30)."words"}]) AS uc2 FROM 
(SELECT c5, count(1) FILTER (WHERE c25) AS c28, count(1) FILTER (WHERE c26) AS c29, arg_min(CASE WHEN c26 THEN {'at': c24, 'words': c27} END, CASE WHEN c26 THEN {n0: c24 IS NOT NULL, v0: c24, n1: c27 IS NOT NULL, v1: c27} END) AS c30 FROM 
(SELECT c5, c8 AS c24, coalesce(TRUE, FALSE) AS c25, CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce((c23 AND coalesce((subtract_wrapped(c8, c13) >= 86400000000::BIGINT), TRUE)), FALSE)) ELSE FALSE END AS c26, CASE WHEN CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce((c23 AND coalesce((subtract_wrapped(c8, c13) >= 86400000000::BIGINT), TRUE)), FALSE)) ELSE FALSE END THEN (c6 || CASE WHEN c23 THEN ' posted <' ELSE ' made no post of <' END || coalesce(c9, '') || '>' || CASE WHEN c23 THEN ' again' ELSE '' END) END AS c27 FROM 
(SELECT c5, c6, c8, c9, c13, coalesce(c22, FALSE) AS c23 FROM 
(SELECT c5, c6, c8, c9, c13, c22 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c5, c6, c8, c10, c11, c9, c13 FROM 
(SELECT c5, c6, c8, c10, c11, c9, CASE WHEN (c9 IS NOT NULL) THEN c12 END AS c13 FROM 
(SELECT *, lag(c8, 1, NULL) OVER (PARTITION BY c5, c6, c10, c9 ORDER BY c7 ASC NULLS FIRST ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING) AS c12 FROM 
(SELECT c5, c6, c8, c10, c11, c9, c7 FROM 
(SELECT c5, c6, c8, c10, c11, c9, c7 FROM 
(SELECT c5, c6, c7, c8, c9, c10, c11 FROM 
(SELECT "trace" AS c5, "node" AS c6, "type" AS c4, "seq" AS c7, "at" AS c8, "mail" AS c9, "folder" AS c10, "object" AS c11, "family" AS c3 FROM "silver/events") WHERE ((c3 IN ('mail')) AND (c4 IN ('mail.posted')))))))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c14, c18, c16, c17, c15, TRUE AS c22 FROM 
(SELECT DISTINCT c14, c15, c16, c17, c18 FROM 
(SELECT c14, c18, c16, c17, c15 FROM 
(SELECT c14, c18, c16, c17, c15, c19 FROM 
(SELECT "trace" AS c14, "node" AS c18, "type" AS c21, "at" AS c16, "folder" AS c17, "object" AS c15, "operation" AS c19, "family" AS c20 FROM "silver/events") WHERE ((c20 IN ('change')) AND (c21 IN ('change.made')))) WHERE (c19 = 'create'))))) ON (((((c5 = c14) AND (c6 = c18)) AND (c8 = c16)) AND (c10 = c17)) AND (c11 = c15)))))) GROUP BY c5))))) WHERE (c1 > (0)::BIGINT));

-- table rules/rows_replaced needs row.replaced
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c5 AS "trace", c38 AS "check", c1 AS "consumed", c39 AS "violations", c40 AS "at", c41 AS "witness" FROM (SELECT * FROM 
(SELECT c5, (c2)."check" AS c38, (c2)."consumed" AS c1, (c2)."violations" AS c39, (c2)."at" AS c40, (c2)."witness" AS c41 FROM 
(SELECT c5, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'rows of other stores are as sent', 'consumed': c35, 'violations': c36, 'at': (c37)."at", 'witness': (c37)."words"}]) AS uc2 FROM 
(SELECT c5, count(1) FILTER (WHERE c32) AS c35, count(1) FILTER (WHERE c33) AS c36, arg_min(CASE WHEN c33 THEN {'at': c31, 'words': c34} END, CASE WHEN c33 THEN {n0: c31 IS NOT NULL, v0: c31, n1: c34 IS NOT NULL, v1: c34} END) AS c37 FROM 
(SELECT c5, c8 AS c31, coalesce(TRUE, FALSE) AS c32, CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce(c30, FALSE)) ELSE FALSE END AS c33, CASE WHEN CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce(c30, FALSE)) ELSE FALSE END THEN (c6 || ' keeps a row of ' || c10 || ' that ' || c10 || ' did not send in <' || c9 || '>') END AS c34 FROM 
(SELECT c5, c6, c8, c10, c9, max(coalesce((((c12 = c28) AND (c13 = c29)) AND ((c25 = c10) AND (c26 = c14))), FALSE)) AS c30 FROM 
(SELECT c5, c9, c11, c6, c7, c8, c10, c12, c13, c14, c25, c26, c28, c29 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c5, c6, c7, c8, c9, c11, c10, c12, c13, c14 FROM 
(SELECT "trace" AS c5, "node" AS c6, "type" AS c4, "seq" AS c7, "at" AS c8, "mail" AS c9, "store" AS c10, "folder" AS c11, "cnset" AS c12, "cnset_fai" AS c13, "sent_number" AS c14, "family" AS c3 FROM "silver/events") WHERE ((c3 IN ('replication')) AND (c4 IN ('row.replaced'))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c18, c20, c25, c26, (c15)."folder" AS c27, (c15)."row" AS c28, (c15)."row_fai" AS c29 FROM 
(SELECT c18, c20, c19 AS c25, c24 AS c26, c15 FROM 
(SELECT * EXCLUDE (uc15), uc15 AS c15 FROM (SELECT *, unnest(c23) AS uc15 FROM 
(SELECT c18, c19, c20, list_from_json(c21, '"STRUCT(\"folder\" VARCHAR, \"cnset\" VARCHAR, \"cnset_fai\" VARCHAR, \"row\" VARCHAR, \"row_fai\" VARCHAR, \"updates\" BIGINT, \"expired\" VARCHAR, \"expired_fai\" VARCHAR)[]"') AS c23, text_to_bigint(c22) AS c24 FROM 
(SELECT "trace" AS c18, "node" AS c19, "type" AS c17, "mail" AS c20, "folders" AS c21, "number" AS c22, "family" AS c16 FROM "silver/events") WHERE ((c16 IN ('mail')) AND (c17 IN ('mail.submitted'))))))))) ON (((c5 = c18) AND (c9 = c20)) AND (c11 = c27)))) GROUP BY c5, c6, c7, c8, c11, c10, c9)) GROUP BY c5))))) WHERE (c1 > (0)::BIGINT));

-- table rules/hops needs hop.sent
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c7 AS "trace", c118 AS "check", c1 AS "consumed", c119 AS "violations", c120 AS "at", c121 AS "witness" FROM (SELECT * FROM 
(SELECT c7, (c2)."check" AS c118, (c2)."consumed" AS c1, (c2)."violations" AS c119, (c2)."at" AS c120, (c2)."witness" AS c121 FROM 
(SELECT c7, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'accepted mail is durable', 'consumed': c106, 'violations': c107, 'at': (c108)."at", 'witness': (c108)."words"}, {'check': 'one copy crosses a connector', 'consumed': c109, 'violations': c110, 'at': (c111)."at", 'witness': (c111)."words"}, {'check': 'mails do not loop', 'consumed': c112, 'violations': c113, 'at': (c114)."at", 'witness': (c114)."words"}, {'check': 'lab times follow answers', 'consumed': c115, 'violations': c116, 'at': (c117)."at", 'witness': (c117)."words"}]) AS uc2 FROM 
(SELECT c7, count(1) FILTER (WHERE c94) AS c106, count(1) FILTER (WHERE c95) AS c107, arg_min(CASE WHEN c95 THEN {'at': c93, 'words': c96} END, CASE WHEN c95 THEN {n0: c93 IS NOT NULL, v0: c93, n1: c96 IS NOT NULL, v1: c96} END) AS c108, count(1) FILTER (WHERE c97) AS c109, count(1) FILTER (WHERE c98) AS c110, arg_min(CASE WHEN c98 THEN {'at': c93, 'words': c99} END, CASE WHEN c98 THEN {n0: c93 IS NOT NULL, v0: c93, n1: c99 IS NOT NULL, v1: c99} END) AS c111, count(1) FILTER (WHERE c100) AS c112, count(1) FILTER (WHERE c101) AS c113, arg_min(CASE WHEN c101 THEN {'at': c93, 'words': c102} END, CASE WHEN c101 THEN {n0: c93 IS NOT NULL, v0: c93, n1: c102 IS NOT NULL, v1: c102} END) AS c114, count(1) FILTER (WHERE c103) AS c115, count(1) FILTER (WHERE c104) AS c116, arg_min(CASE WHEN c104 THEN {'at': c93, 'words': c105} END, CASE WHEN c104 THEN {n0: c93 IS NOT NULL, v0: c93, n1: c105 IS NOT NULL, v1: c105} END) AS c117 FROM 
(SELECT c7, c19 AS c93, coalesce((NOT c75), FALSE) AS c94, CASE WHEN coalesce((NOT c75), FALSE) THEN (NOT coalesce(c71, FALSE)) ELSE FALSE END AS c95, CASE WHEN CASE WHEN coalesce((NOT c75), FALSE) THEN (NOT coalesce(c71, FALSE)) ELSE FALSE END THEN (c8 || ' handed <' || c4 || '> to ' || c16 || ', which does not have it') END AS c96, coalesce((c17 IS NOT NULL), FALSE) AS c97, CASE WHEN coalesce((c17 IS NOT NULL), FALSE) THEN (NOT coalesce(((c18 <= add_wrapped(add_wrapped(greatest(coalesce(c36, (0)::BIGINT), (1)::BIGINT), c21), coalesce(c70, (0)::BIGINT))) OR coalesce((c49 <= c20), FALSE)), FALSE)) ELSE FALSE END AS c98, CASE WHEN CASE WHEN coalesce((c17 IS NOT NULL), FALSE) THEN (NOT coalesce(((c18 <= add_wrapped(add_wrapped(greatest(coalesce(c36, (0)::BIGINT), (1)::BIGINT), c21), coalesce(c70, (0)::BIGINT))) OR coalesce((c49 <= c20), FALSE)), FALSE)) ELSE FALSE END THEN ((c18)::VARCHAR || ' copies of <' || c4 || '> crossed ' || c17) END AS c99, coalesce((c36 > (0)::BIGINT), FALSE) AS c100, CASE WHEN coalesce((c36 > (0)::BIGINT), FALSE) THEN (NOT coalesce((c36 <= add_wrapped((30)::BIGINT, coalesce(c43, (0)::BIGINT))), FALSE)) ELSE FALSE END AS c101, CASE WHEN CASE WHEN coalesce((c36 > (0)::BIGINT), FALSE) THEN (NOT coalesce((c36 <= add_wrapped((30)::BIGINT, coalesce(c43, (0)::BIGINT))), FALSE)) ELSE FALSE END THEN ('<' || c4 || '> arrived at ' || c8 || ' ' || (c36)::VARCHAR || ' times') END AS c102, coalesce(((c91 AND (NOT c75)) AND (c22 IS NOT NULL)), FALSE) AS c103, CASE WHEN coalesce(((c91 AND (NOT c75)) AND (c22 IS NOT NULL)), FALSE) THEN (NOT coalesce((c22 <= add_wrapped(c20, (900000000)::BIGINT)), FALSE)) ELSE FALSE END AS c104, CASE WHEN CASE WHEN coalesce(((c91 AND (NOT c75)) AND (c22 IS NOT NULL)), FALSE) THEN (NOT coalesce((c22 <= add_wrapped(c20, (900000000)::BIGINT)), FALSE)) ELSE FALSE END THEN (c16 || ' has <' || c4 || '> from a later lab time on than ' || c8 || ' handed it over') END AS c105 FROM 
(SELECT c7, c16, c8, c4, c17, c18, c19, c20, c21, c22, c71, c36, c43, c49, c70, c75, c91 FROM 
(SELECT c7, c16, c8, c4, c17, c18, c19, c20, c21, c22, c71, c36, c43, c49, c70, c75, (c83 AND coalesce((c90 AND (NOT list_any(list_transform(coalesce(c88, CAST([] AS STRUCT("since" BIGINT, "until" BIGINT)[])), lambda v92: ((c22 >= (v92)."since") AND (c22 <= (v92)."until")))))), FALSE)) AS c91 FROM 
(SELECT c7, c16, c8, c4, c17, c18, c19, c20, c21, c22, c71, c36, c43, c49, c70, c75, c83, c90, c88 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c7, c8, c4, c16, c17, c18, c19, c20, c21, c22, c71, c36, c43, c49, c70, c75, c83 FROM 
(SELECT c7, c8, c4, c16, c17, c18, c19, c20, c21, c22, c71, c36, c43, c49, c70, c75, (c76 AND coalesce((c82 AND (NOT list_any(list_transform(coalesce(c80, CAST([] AS STRUCT("since" BIGINT, "until" BIGINT)[])), lambda v84: ((c20 >= (v84)."since") AND (c20 <= (v84)."until")))))), FALSE)) AS c83 FROM 
(SELECT c7, c8, c4, c16, c17, c18, c19, c20, c21, c22, c71, c36, c43, c49, c70, c75, c76, c82, c80 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c7, c8, c4, c16, c17, c18, c19, c20, c21, c22, c71, c36, c43, c49, c70, c75, TRUE AS c76 FROM 
(SELECT c7, c8, c4, c16, c17, c18, c19, c20, c21, c22, c71, c36, c43, c49, c70, c75 FROM 
(SELECT c7, c8, c4, c16, c17, c18, c19, c20, c21, c22, c71, c36, c43, c49, c70, coalesce(list_contains_or_null(c74, c17), FALSE) AS c75 FROM 
(SELECT c7, c8, c4, c16, c17, c18, c19, c20, c21, c22, c71, c36, c43, c49, c70, c74 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c7, c4, c8, c16, c17, c18, c19, c20, c21, c22, coalesce(c30, FALSE) AS c71, c36, c43, c49, c70 FROM 
(SELECT c7, c4, c8, c16, c17, c18, c19, c20, c21, c22, c30, c36, c43, c49, c70 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c7, c8, c4, c16, c17, c18, c19, c20, c21, c22, c30, c36, c43, c49 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c7, c4, c8, c16, c17, c18, c19, c20, c21, c22, c30, c36, c43 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c7, c4, c16, c8, c17, c18, c19, c20, c21, c22, c30 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c7, c4, c8, (c13)."next_hop" AS c16, (c13)."connector" AS c17, count(1) AS c18, min(c3) AS c19, max(c3) AS c20, max(c15) AS c21 FROM 
(SELECT c7, c4, c8, c13, c3, c15 FROM 
(SELECT c7, c4, c8, c13, c3, c15, c15 FROM 
(SELECT *, count(1) FILTER (WHERE c14) OVER (PARTITION BY c7, c4, c8) AS c15 FROM 
(SELECT c7, c4, c8, c13, c3, (c3 IS NULL) AS c14 FROM 
(SELECT c7, c4, c8, arg_max_null({'next_hop': c10, 'connector': c11}, CASE WHEN (c6 = 'hop.sent') THEN c9 END) AS c13, min(CASE WHEN (c6 = 'hop.sent') THEN c9 END) AS c3 FROM 
(SELECT c7, c6, c8, c9, c4, c10, c11, c12 FROM 
(SELECT "trace" AS c7, "node" AS c8, "type" AS c6, "at" AS c9, "mail" AS c4, "next_hop" AS c10, "connector" AS c11, "queue_id" AS c12, "family" AS c5 FROM "silver/events") WHERE ((c5 IN ('mail')) AND (c6 IN ('hop.sent', 'hop.failed')))) WHERE (c4 IS NOT NULL) GROUP BY c7, c4, c8, c12))))) WHERE (c3 IS NOT NULL) GROUP BY c7, c4, c8, (c13)."next_hop", (c13)."connector")) LEFT JOIN 
(SELECT * FROM 
(SELECT c25, c28, c26 AS c29, c22, TRUE AS c30 FROM 
(SELECT c25, c28, c26, min(CASE WHEN (NOT (c24 = 'mail.submitted')) THEN c27 END) AS c22 FROM 
(SELECT "trace" AS c25, "node" AS c26, "type" AS c24, "at" AS c27, "mail" AS c28, "family" AS c23 FROM "silver/events") WHERE ((c23 IN ('mail')) AND (c24 IN ('hop.received', 'hop.dropped', 'mail.bad', 'mail.submitted'))) GROUP BY c25, c28, c26) WHERE (c22 IS NOT NULL))) ON (((c7 = c25) AND (c4 = c28)) AND (c16 = c29))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c33, c35, c34, c36, c43 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c33, c35, c34, c36 FROM 
(SELECT c33, c35, c34, count(1) FILTER (WHERE (c32 IN ('hop.received', 'mail.submitted'))) AS c36 FROM 
(SELECT "trace" AS c33, "node" AS c34, "type" AS c32, "mail" AS c35, "family" AS c31 FROM "silver/events") WHERE ((c31 IN ('mail')) AND (c32 IN ('hop.received', 'hop.dropped', 'mail.bad', 'mail.submitted'))) GROUP BY c33, c35, c34))) LEFT JOIN 
(SELECT * FROM 
(SELECT c39, c40, c41 AS c42, count(1) AS c43 FROM 
(SELECT c39, c40, c41 FROM 
(SELECT "trace" AS c39, "type" AS c38, "mail" AS c40, "next_hop" AS c41, "family" AS c37 FROM "silver/events") WHERE ((c37 IN ('mail')) AND (c38 IN ('hop.failed')))) GROUP BY c39, c40, c41)) ON (((c33 = c39) AND (c35 = c40)) AND (c34 = c42))))) ON (((c7 = c33) AND (c4 = c35)) AND (c8 = c34))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c46, c47, min(c48) AS c49 FROM 
(SELECT "trace" AS c46, "node" AS c47, "type" AS c45, "at" AS c48, "family" AS c44 FROM "silver/events") WHERE ((c44 IN ('mail', 'run')) AND (c45 IN ('link.down', 'link.up', 'organization.read'))) GROUP BY c46, c47)) ON ((c7 = c46) AND (c8 = c47))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c56, c57, count(DISTINCT c52) AS c70 FROM 
(SELECT c56, c52, c57, c51, c50 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c56, c57, c51, c52 FROM 
(SELECT * EXCLUDE (uc52), uc52 AS c52 FROM (SELECT *, unnest(c53) AS uc52 FROM 
(SELECT c56, c51, c57, c53 FROM 
(SELECT "trace" AS c56, "node" AS c51, "type" AS c55, "mail" AS c57, "recipients" AS c53, "family" AS c54 FROM "silver/events") WHERE ((c54 IN ('mail')) AND (c55 IN ('mail.submitted')))) WHERE (coalesce(len(c53)::INTEGER, -1) > 1))))) JOIN 
(SELECT * FROM 
(SELECT c61, c50, c66 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c61, map_extract_value(c62, 'to') AS c63, map_extract_value(c62, 'from') AS c50 FROM 
(SELECT c61, c58, c62 FROM 
(SELECT "trace" AS c61, "type" AS c60, "kind" AS c58, "details" AS c62, "family" AS c59 FROM "silver/events") WHERE ((c59 IN ('run')) AND (c60 IN ('fault.injected')))) WHERE (c58 IN ('lose', 'alter', 'delay', 'duplicate', 'reorder')))) JOIN 
(SELECT * FROM 
(SELECT DISTINCT c64, c65, c66 FROM 
(SELECT c64, c65, c69 AS c66 FROM 
(SELECT c64, c65, c69 FROM 
(SELECT "trace" AS c64, "type" AS c68, "store" AS c65, "address" AS c69, "family" AS c67 FROM "silver/events") WHERE ((c67 IN ('replication')) AND (c68 IN ('address.stamped'))))))) ON ((c61 = c64) AND (c63 = c65))))) ON ((c56 = c61) AND (c52 = c66)))) WHERE (coalesce(c50, c51) = c51) GROUP BY c56, c57)) ON ((c7 = c56) AND (c4 = c57)))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c72, c73, c74 FROM 
(SELECT "trace" AS c72, "node" AS c73, "relays" AS c74 FROM "evidence/nodes"))) ON ((c7 = c72) AND (c8 = c73)))))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c77, c78 AS c81, c79 AS c82, c80 FROM 
(SELECT "trace" AS c77, "node" AS c78, "exact" AS c79, "skews" AS c80 FROM "evidence/nodes"))) ON ((c7 = c77) AND (c8 = c81))))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c85, c86 AS c89, c87 AS c90, c88 FROM 
(SELECT "trace" AS c85, "node" AS c86, "exact" AS c87, "skews" AS c88 FROM "evidence/nodes"))) ON ((c7 = c85) AND (c16 = c89))))))) GROUP BY c7))))) WHERE (c1 > (0)::BIGINT));

-- table rules/attempts needs hop.expired,hop.failed
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c5 AS "trace", c143 AS "check", c1 AS "consumed", c144 AS "violations", c145 AS "at", c146 AS "witness" FROM (SELECT * FROM 
(SELECT c5, (c2)."check" AS c143, (c2)."consumed" AS c1, (c2)."violations" AS c144, (c2)."at" AS c145, (c2)."witness" AS c146 FROM 
(SELECT c5, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'size limits for users do not apply to replication', 'consumed': c131, 'violations': c132, 'at': (c133)."at", 'witness': (c133)."words"}, {'check': 'retries wait 10 minutes', 'consumed': c134, 'violations': c135, 'at': (c136)."at", 'witness': (c136)."words"}, {'check': 'failed mails are returned', 'consumed': c137, 'violations': c138, 'at': (c139)."at", 'witness': (c139)."words"}, {'check': 'mails expire after two days', 'consumed': c140, 'violations': c141, 'at': (c142)."at", 'witness': (c142)."words"}]) AS uc2 FROM 
(SELECT c5, count(1) FILTER (WHERE c119) AS c131, count(1) FILTER (WHERE c120) AS c132, arg_min(CASE WHEN c120 THEN {'at': c118, 'words': c121} END, CASE WHEN c120 THEN {n0: c118 IS NOT NULL, v0: c118, n1: c121 IS NOT NULL, v1: c121} END) AS c133, count(1) FILTER (WHERE c122) AS c134, count(1) FILTER (WHERE c123) AS c135, arg_min(CASE WHEN c123 THEN {'at': c118, 'words': c124} END, CASE WHEN c123 THEN {n0: c118 IS NOT NULL, v0: c118, n1: c124 IS NOT NULL, v1: c124} END) AS c136, count(1) FILTER (WHERE c125) AS c137, count(1) FILTER (WHERE c126) AS c138, arg_min(CASE WHEN c126 THEN {'at': c118, 'words': c127} END, CASE WHEN c126 THEN {n0: c118 IS NOT NULL, v0: c118, n1: c127 IS NOT NULL, v1: c127} END) AS c139, count(1) FILTER (WHERE c128) AS c140, count(1) FILTER (WHERE c129) AS c141, arg_min(CASE WHEN c129 THEN {'at': c118, 'words': c130} END, CASE WHEN c129 THEN {n0: c118 IS NOT NULL, v0: c118, n1: c130 IS NOT NULL, v1: c130} END) AS c142 FROM 
(SELECT c5, c9 AS c118, coalesce(((c93 AND (NOT c101)) AND (c16 IN ('hop.failed', 'hop.expired'))), FALSE) AS c119, CASE WHEN coalesce(((c93 AND (NOT c101)) AND (c16 IN ('hop.failed', 'hop.expired'))), FALSE) THEN (NOT coalesce(((c113 OR (NOT regexp_matches(coalesce(c11, ''), '(^|[^0-9.])(552|5[.]3[.]4|5[.]2[.]3|4[.]3[.]1|452)((?:\r\n|[\n\r\x{85}\x{2028}\x{2029}])?\z|[^0-9.])|takes no mail from'))) OR list_contains_or_null(c107, regexp_extract(c11, 'connector ([^\n\r\x{85}\x{2028}\x{2029}]+) takes', 1))), FALSE)) ELSE FALSE END AS c120, CASE WHEN CASE WHEN coalesce(((c93 AND (NOT c101)) AND (c16 IN ('hop.failed', 'hop.expired'))), FALSE) THEN (NOT coalesce(((c113 OR (NOT regexp_matches(coalesce(c11, ''), '(^|[^0-9.])(552|5[.]3[.]4|5[.]2[.]3|4[.]3[.]1|452)((?:\r\n|[\n\r\x{85}\x{2028}\x{2029}])?\z|[^0-9.])|takes no mail from'))) OR list_contains_or_null(c107, regexp_extract(c11, 'connector ([^\n\r\x{85}\x{2028}\x{2029}]+) takes', 1))), FALSE)) ELSE FALSE END THEN (c6 || ' could not relay <' || c10 || '>: ' || c11) END AS c121, coalesce((((c117 AND (c16 IN ('hop.sent', 'hop.failed'))) AND ((c38)."what" = 'hop.failed')) AND (((c38)."next_hop" = c12) AND ((c38)."connector" IS NOT DISTINCT FROM c13))), FALSE) AS c122, CASE WHEN coalesce((((c117 AND (c16 IN ('hop.sent', 'hop.failed'))) AND ((c38)."what" = 'hop.failed')) AND (((c38)."next_hop" = c12) AND ((c38)."connector" IS NOT DISTINCT FROM c13))), FALSE) THEN (NOT coalesce(((c9 >= add_wrapped((c38)."at", (600000000)::BIGINT)) OR (c9 >= add_wrapped(c67, 172800000000::BIGINT))), FALSE)) ELSE FALSE END AS c123, CASE WHEN CASE WHEN coalesce((((c117 AND (c16 IN ('hop.sent', 'hop.failed'))) AND ((c38)."what" = 'hop.failed')) AND (((c38)."next_hop" = c12) AND ((c38)."connector" IS NOT DISTINCT FROM c13))), FALSE) THEN (NOT coalesce(((c9 >= add_wrapped((c38)."at", (600000000)::BIGINT)) OR (c9 >= add_wrapped(c67, 172800000000::BIGINT))), FALSE)) ELSE FALSE END THEN (c6 || ' tried <' || c10 || '> again too early') END AS c124, coalesce(((c16 = 'hop.failed') AND (c17 IS NULL)), FALSE) AS c125, CASE WHEN coalesce(((c16 = 'hop.failed') AND (c17 IS NULL)), FALSE) THEN (NOT coalesce(c39, FALSE)) ELSE FALSE END AS c126, CASE WHEN CASE WHEN coalesce(((c16 = 'hop.failed') AND (c17 IS NULL)), FALSE) THEN (NOT coalesce(c39, FALSE)) ELSE FALSE END THEN (c6 || ' gave up <' || c10 || '> but did not return it') END AS c127, coalesce(((c117 AND (c16 = 'hop.expired')) AND (c11 LIKE '%before it expired%' ESCAPE '\')), FALSE) AS c128, CASE WHEN coalesce(((c117 AND (c16 = 'hop.expired')) AND (c11 LIKE '%before it expired%' ESCAPE '\')), FALSE) THEN (NOT coalesce((c9 >= add_wrapped(c67, 172800000000::BIGINT)), FALSE)) ELSE FALSE END AS c129, CASE WHEN CASE WHEN coalesce(((c117 AND (c16 = 'hop.expired')) AND (c11 LIKE '%before it expired%' ESCAPE '\')), FALSE) THEN (NOT coalesce((c9 >= add_wrapped(c67, 172800000000::BIGINT)), FALSE)) ELSE FALSE END THEN (c6 || ' let <' || c10 || '> expire too early') END AS c130 FROM 
(SELECT c5, c6, c10, c9, c16, c12, c13, c11, c17, c38, c39, c67, c93, c101, c107, c113, coalesce(c116, FALSE) AS c117 FROM 
(SELECT c5, c6, c10, c9, c16, c12, c13, c11, c17, c38, c39, c67, c93, c101, c107, c113, c116 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c5, c10, c6, c9, c16, c12, c13, c11, c17, c38, c39, c67, c93, c101, c107, c113 FROM 
(SELECT c5, c10, c6, c9, c16, c12, c13, c11, c17, c38, c39, c67, c93, c101, c107, coalesce(list_contains_or_null(c110, coalesce(c13, (c38)."connector")), FALSE) AS c113 FROM 
(SELECT c5, c10, c6, c9, c16, c12, c13, c11, c17, c38, c39, c67, c93, c101, c107, c110 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c5, c10, c6, c9, c16, c12, c13, c11, c17, c38, c39, c67, c93, c101 FROM 
(SELECT c5, c10, c6, c9, c16, c12, c13, c11, c17, c38, c39, c67, c93, ((coalesce(c11, '') LIKE '%; it was sent as ordinary mail: %' ESCAPE '\') OR coalesce((coalesce(len(list_without(c100, c6))::INTEGER, -1) > 0), FALSE)) AS c101 FROM 
(SELECT c5, c10, c6, c9, c16, c12, c13, c11, c17, c38, c39, c67, c93, c100 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c5, c10, c6, c9, c16, c12, c13, c11, c17, c38, c39, c67, c93 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c5, c6, c10, c9, c16, c12, c13, c11, c17, c38, c39, c67 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c5, c6, c9, c16, c10, c12, c13, c11, c17, c38, c39 FROM 
(SELECT c5, c6, c9, c16, c10, c12, c13, c11, c17, CASE WHEN ((c32 IS NULL) OR ((c35)."incarnation" = c7)) THEN c36 END AS c38, (c37 >= c9) AS c39 FROM 
(SELECT *, lag(c33, 1, NULL) OVER (PARTITION BY c5, c6, c18 ORDER BY c8 ASC NULLS FIRST ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING) AS c35, lag(c33, 1, NULL) OVER (PARTITION BY c5, c6, c18 ORDER BY c8 ASC NULLS FIRST ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING) AS c36, max(c34) OVER (PARTITION BY c5, c6, c18 ORDER BY c8 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS c37 FROM 
(SELECT c5, c6, c7, c18, c8, c9, c16, c10, c12, c13, c11, c17, c32, {'what': c16, 'at': c9, 'next_hop': c12, 'connector': c13, 'incarnation': c7} AS c33, CASE WHEN (c16 = 'hop.expired') THEN c9 END AS c34 FROM 
(SELECT c5, c6, c7, c18, c8, c9, c16, c10, c12, c13, c11, c17, c32 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c5, c6, c18, c7, c8, c9, c16, c10, c12, c13, c11, c17 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c5, c6, c7, c8, c9, c4 AS c16, c10, c12, c13, c11, c15 AS c17, c14 AS c18 FROM 
(SELECT "trace" AS c5, "node" AS c6, "type" AS c4, "incarnation" AS c7, "seq" AS c8, "at" AS c9, "mail" AS c10, "reason" AS c11, "next_hop" AS c12, "connector" AS c13, "queue_id" AS c14, "retry_at" AS c15, "family" AS c3 FROM "silver/events") WHERE ((c3 IN ('mail')) AND (c4 IN ('hop.sent', 'hop.failed', 'hop.expired'))))) SEMI JOIN 
(SELECT * FROM 
(SELECT DISTINCT c19, c20, c21 FROM 
(SELECT c19, c20, c21 FROM 
(SELECT c19, c20, c24 AS c22, c25 AS c21 FROM 
(SELECT "trace" AS c19, "node" AS c20, "type" AS c24, "queue_id" AS c25, "family" AS c23 FROM "silver/events") WHERE ((c23 IN ('mail')) AND (c24 IN ('hop.sent', 'hop.failed', 'hop.expired')))) WHERE (NOT (c22 = 'hop.sent'))))) ON (((c5 = c19) AND (c6 = c20)) AND (c18 = c21))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c29, c30, c31, TRUE AS c32 FROM 
(SELECT c29, c30, c31, c26 FROM 
(SELECT "trace" AS c29, "node" AS c30, "type" AS c28, "incarnation" AS c31, "reason" AS c26, "family" AS c27 FROM "silver/events") WHERE ((c27 IN ('run')) AND (c28 IN ('node.started')))) WHERE (c26 = 'restored'))) ON (((c5 = c29) AND (c6 = c30)) AND (c7 = c31))))))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c43, c44, c40, min(c45) AS c67 FROM 
(SELECT c43, c40, c44, c45 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c43, c44, c45, c40 FROM 
(SELECT "trace" AS c43, "node" AS c44, "type" AS c42, "at" AS c45, "mail" AS c40, "family" AS c41 FROM "silver/events") WHERE ((c41 IN ('mail')) AND (c42 IN ('mail.submitted', 'hop.received')))) WHERE (c40 IS NOT NULL)) SEMI JOIN 
(SELECT * FROM 
(SELECT DISTINCT c46, c47 FROM 
(SELECT c46, c47 FROM 
(SELECT c46, c47 FROM 
(SELECT c46, c47 FROM 
(SELECT * FROM 
(SELECT c46, c47 FROM 
(SELECT c46, c47 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c46, c50, c51, c47 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c46, c50, c51, c47, c52 AS c53 FROM 
(SELECT "trace" AS c46, "node" AS c50, "type" AS c49, "incarnation" AS c51, "mail" AS c47, "queue_id" AS c52, "family" AS c48 FROM "silver/events") WHERE ((c48 IN ('mail')) AND (c49 IN ('hop.sent', 'hop.failed', 'hop.expired'))))) SEMI JOIN 
(SELECT * FROM 
(SELECT DISTINCT c54, c55, c56 FROM 
(SELECT c54, c55, c56 FROM 
(SELECT c54, c55, c59 AS c57, c60 AS c56 FROM 
(SELECT "trace" AS c54, "node" AS c55, "type" AS c59, "queue_id" AS c60, "family" AS c58 FROM "silver/events") WHERE ((c58 IN ('mail')) AND (c59 IN ('hop.sent', 'hop.failed', 'hop.expired')))) WHERE (NOT (c57 = 'hop.sent'))))) ON (((c46 = c54) AND (c50 = c55)) AND (c53 = c56))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c64, c65, c66 FROM 
(SELECT c64, c65, c66, c61 FROM 
(SELECT "trace" AS c64, "node" AS c65, "type" AS c63, "incarnation" AS c66, "reason" AS c61, "family" AS c62 FROM "silver/events") WHERE ((c62 IN ('run')) AND (c63 IN ('node.started')))) WHERE (c61 = 'restored'))) ON (((c46 = c64) AND (c50 = c65)) AND (c51 = c66))))))))))) ON ((c43 = c46) AND (c40 = c47)))) GROUP BY c43, c44, c40)) ON (((c5 = c43) AND (c6 = c44)) AND (c10 = c40))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c68, c69, TRUE AS c93 FROM 
(SELECT DISTINCT c68, c69 FROM 
(SELECT c68, c69 FROM 
(SELECT c68, c69, c70 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c68, c70, c69 FROM 
(SELECT "trace" AS c68, "type" AS c70, "mail" AS c69, "family" AS c71 FROM "silver/events") WHERE ((c71 IN ('mail')) AND (c70 IN ('mail.submitted', 'hop.received')))) WHERE (c69 IS NOT NULL)) SEMI JOIN 
(SELECT * FROM 
(SELECT DISTINCT c72, c73 FROM 
(SELECT c72, c73 FROM 
(SELECT c72, c73 FROM 
(SELECT c72, c73 FROM 
(SELECT * FROM 
(SELECT c72, c73 FROM 
(SELECT c72, c73 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c72, c76, c77, c73 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c72, c76, c77, c73, c78 AS c79 FROM 
(SELECT "trace" AS c72, "node" AS c76, "type" AS c75, "incarnation" AS c77, "mail" AS c73, "queue_id" AS c78, "family" AS c74 FROM "silver/events") WHERE ((c74 IN ('mail')) AND (c75 IN ('hop.sent', 'hop.failed', 'hop.expired'))))) SEMI JOIN 
(SELECT * FROM 
(SELECT DISTINCT c80, c81, c82 FROM 
(SELECT c80, c81, c82 FROM 
(SELECT c80, c81, c85 AS c83, c86 AS c82 FROM 
(SELECT "trace" AS c80, "node" AS c81, "type" AS c85, "queue_id" AS c86, "family" AS c84 FROM "silver/events") WHERE ((c84 IN ('mail')) AND (c85 IN ('hop.sent', 'hop.failed', 'hop.expired')))) WHERE (NOT (c83 = 'hop.sent'))))) ON (((c72 = c80) AND (c76 = c81)) AND (c79 = c82))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c90, c91, c92 FROM 
(SELECT c90, c91, c92, c87 FROM 
(SELECT "trace" AS c90, "node" AS c91, "type" AS c89, "incarnation" AS c92, "reason" AS c87, "family" AS c88 FROM "silver/events") WHERE ((c88 IN ('run')) AND (c89 IN ('node.started')))) WHERE (c87 = 'restored'))) ON (((c72 = c90) AND (c76 = c91)) AND (c77 = c92))))))))))) ON ((c68 = c72) AND (c69 = c73)))) WHERE (c70 = 'mail.submitted'))))) ON ((c5 = c68) AND (c10 = c69))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c98, c95, coalesce(list(DISTINCT c99) FILTER (WHERE c99 IS NOT NULL), []) AS c100 FROM 
(SELECT c98, c99, c95, c94 FROM 
(SELECT "trace" AS c98, "node" AS c99, "type" AS c97, "mail" AS c95, "ordinary" AS c94, "family" AS c96 FROM "silver/events") WHERE ((c96 IN ('mail')) AND (c97 IN ('hop.sent')))) WHERE ((NOT (c94 = '')) AND (c95 IS NOT NULL)) GROUP BY c98, c95)) ON ((c5 = c98) AND (c10 = c95))))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c104, flatten(coalesce(list(DISTINCT list_transform(list_filter(coalesce((c106)."connectors", CAST([] AS STRUCT("name" VARCHAR, "kind" VARCHAR, "size_limit" VARCHAR, "senders" VARCHAR[], "bandwidth" VARCHAR, "relay" VARCHAR)[])), lambda v109: ((((v109)."size_limit" IS NOT NULL) OR ((v109)."senders" IS NOT NULL)) AND ((v109)."kind" = 'smtp-relay'))), lambda v108: (v108)."name")) FILTER (WHERE list_transform(list_filter(coalesce((c106)."connectors", CAST([] AS STRUCT("name" VARCHAR, "kind" VARCHAR, "size_limit" VARCHAR, "senders" VARCHAR[], "bandwidth" VARCHAR, "relay" VARCHAR)[])), lambda v109: ((((v109)."size_limit" IS NOT NULL) OR ((v109)."senders" IS NOT NULL)) AND ((v109)."kind" = 'smtp-relay'))), lambda v108: (v108)."name") IS NOT NULL), [])) AS c107, flatten(coalesce(list(DISTINCT list_transform(list_filter(coalesce((c106)."connectors", CAST([] AS STRUCT("name" VARCHAR, "kind" VARCHAR, "size_limit" VARCHAR, "senders" VARCHAR[], "bandwidth" VARCHAR, "relay" VARCHAR)[])), lambda v112: ((v112)."relay" IS NOT NULL)), lambda v111: (v111)."name")) FILTER (WHERE list_transform(list_filter(coalesce((c106)."connectors", CAST([] AS STRUCT("name" VARCHAR, "kind" VARCHAR, "size_limit" VARCHAR, "senders" VARCHAR[], "bandwidth" VARCHAR, "relay" VARCHAR)[])), lambda v112: ((v112)."relay" IS NOT NULL)), lambda v111: (v111)."name") IS NOT NULL), [])) AS c110 FROM 
(SELECT c104, struct_from_json(c105, '"STRUCT(\"connectors\" STRUCT(\"name\" VARCHAR, \"kind\" VARCHAR, \"size_limit\" VARCHAR, \"senders\" VARCHAR[], \"bandwidth\" VARCHAR, \"relay\" VARCHAR)[], \"domain\" VARCHAR)"') AS c106 FROM 
(SELECT c104, c105 FROM 
(SELECT "trace" AS c104, "type" AS c103, "topology" AS c105, "family" AS c102 FROM "silver/events") WHERE ((c102 IN ('run')) AND (c103 IN ('run.started', 'organization.changed'))))) GROUP BY c104)) ON (c5 = c104)))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c114, c115, TRUE AS c116 FROM 
(SELECT "trace" AS c114, "node" AS c115 FROM "evidence/plain"))) ON ((c5 = c114) AND (c6 = c115)))))) GROUP BY c5))))) WHERE (c1 > (0)::BIGINT));

-- table rules/frozen_servers needs queue.frozen
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c10 AS "trace", c43 AS "check", c1 AS "consumed", c44 AS "violations", c45 AS "at", c46 AS "witness" FROM (SELECT * FROM 
(SELECT c10, (c2)."check" AS c43, (c2)."consumed" AS c1, (c2)."violations" AS c44, (c2)."at" AS c45, (c2)."witness" AS c46 FROM 
(SELECT c10, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'frozen mails are not tried', 'consumed': c40, 'violations': c41, 'at': (c42)."at", 'witness': (c42)."words"}]) AS uc2 FROM 
(SELECT c10, count(1) FILTER (WHERE c37) AS c40, count(1) FILTER (WHERE c38) AS c41, arg_min(CASE WHEN c38 THEN {'at': c36, 'words': c39} END, CASE WHEN c38 THEN {n0: c36 IS NOT NULL, v0: c36, n1: c39 IS NOT NULL, v1: c39} END) AS c42 FROM 
(SELECT c10, c12 AS c36, coalesce(TRUE, FALSE) AS c37, CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce(((c35 IS NULL) OR (coalesce(c17, c12) <= c35)), FALSE)) ELSE FALSE END AS c38, CASE WHEN CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce(((c35 IS NULL) OR (coalesce(c17, c12) <= c35)), FALSE)) ELSE FALSE END THEN (c11 || ' tried <' || coalesce(c13, '') || '> for ' || c4 || ', which is frozen') END AS c39 FROM 
(SELECT c10, c11, c12, c13, c4, c17, least(CASE WHEN ((c33)."type" = 'queue.frozen') THEN (c33)."at" ELSE CAST(NULL AS BIGINT) END, CASE WHEN ((c34)."type" = 'queue.frozen') THEN (c34)."at" ELSE CAST(NULL AS BIGINT) END) AS c35 FROM 
(SELECT c10, c11, c12, c3, c13, c4, c17, c33, c34 FROM 
(SELECT c10, c11, c12, c3, c13, c4, c17, c33, c34, c33, c34 FROM 
(SELECT *, last_value(c32 IGNORE NULLS) OVER (PARTITION BY c10, c11, c16 ORDER BY c5 ASC NULLS FIRST RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS c34 FROM 
(SELECT *, last_value(c31 IGNORE NULLS) OVER (PARTITION BY c10, c11, c4 ORDER BY c5 ASC NULLS FIRST RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS c33 FROM 
(SELECT c10, c11, c5, c12, c3, c13, c4, c16, c17, CASE WHEN (c16 IS NULL) THEN c30 END AS c31, CASE WHEN (c16 IS NOT NULL) THEN c30 END AS c32 FROM 
(SELECT c10, c11, c5, c12, c3, c13, c4, c16, c17, CASE WHEN (c3 IN ('queue.frozen', 'queue.unfrozen')) THEN {'type': c3, 'at': c12} END AS c30 FROM 
(SELECT c10, c11, c5, c12, c3, c13, c4, c16, c17, c6, c8 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c10, c11, c5, c12, c3, c13, c4, c16, c17, c6 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c10, c11, c5, c12, c3, c13, c4, c16, c17 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c10, c11, c5, c12, c3, c13, c4, c14 AS c16, c15 AS c17 FROM 
(SELECT "trace" AS c10, "node" AS c11, "type" AS c3, "seq" AS c5, "at" AS c12, "mail" AS c13, "next_hop" AS c4, "queue_id" AS c14, "begun_at" AS c15, "family" AS c9 FROM "silver/events") WHERE ((c9 IN ('mail')) AND (c3 IN ('queue.frozen', 'queue.unfrozen', 'hop.sent', 'hop.failed'))))) SEMI JOIN 
(SELECT * FROM 
(SELECT DISTINCT c18, c19 FROM 
(SELECT c18, c19 FROM 
(SELECT c18, c19 FROM 
(SELECT "trace" AS c18, "node" AS c19, "type" AS c21, "family" AS c20 FROM "silver/events") WHERE ((c20 IN ('mail')) AND (c21 IN ('queue.frozen'))))))) ON ((c10 = c18) AND (c11 = c19))))) JOIN 
(SELECT * FROM 
(SELECT c25, c26, max(c27) AS c6 FROM 
(SELECT c25, c26, c27, c22 FROM 
(SELECT "trace" AS c25, "node" AS c26, "type" AS c24, "seq" AS c27, "reason" AS c22, "family" AS c23 FROM "silver/events") WHERE ((c23 IN ('run')) AND (c24 IN ('node.started')))) WHERE (c22 = 'first') GROUP BY c25, c26)) ON ((c10 = c25) AND (c11 = c26))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c28, c29, c8 FROM 
(SELECT "trace" AS c28, "node" AS c29, "undone_spans" AS c8 FROM "evidence/nodes"))) ON ((c10 = c28) AND (c11 = c29)))) WHERE ((c5 > c6) AND (NOT coalesce(list_any(list_transform(c8, lambda v7: ((c5 > (v7)."after") AND (c5 < (v7)."before")))), FALSE))))))))) WHERE ((c3 IN ('hop.sent', 'hop.failed')) AND (NOT (coalesce(c4, '') = ''))))) GROUP BY c10))))) WHERE (c1 > (0)::BIGINT));

-- table rules/revisions needs organization.changed,organization.read
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c5 AS "trace", c69 AS "check", c1 AS "consumed", c70 AS "violations", c71 AS "at", c72 AS "witness" FROM (SELECT * FROM 
(SELECT c5, (c2)."check" AS c69, (c2)."consumed" AS c1, (c2)."violations" AS c70, (c2)."at" AS c71, (c2)."witness" AS c72 FROM 
(SELECT c5, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'running stores read the organization', 'consumed': c66, 'violations': c67, 'at': (c68)."at", 'witness': (c68)."words"}]) AS uc2 FROM 
(SELECT c5, count(1) FILTER (WHERE c63) AS c66, count(1) FILTER (WHERE c64) AS c67, arg_min(CASE WHEN c64 THEN {'at': c62, 'words': c65} END, CASE WHEN c64 THEN {n0: c62 IS NOT NULL, v0: c62, n1: c65 IS NOT NULL, v1: c65} END) AS c68 FROM 
(SELECT c5, c35 AS c62, coalesce(TRUE, FALSE) AS c63, CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce((c38 AND (c36 IS NULL)), FALSE)) ELSE FALSE END AS c64, CASE WHEN CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce((c38 AND (c36 IS NULL)), FALSE)) ELSE FALSE END THEN CASE WHEN c38 THEN (c6 || ' did not know change ' || (c34)::VARCHAR || ' of the organization') ELSE (c6 || ' knows a change ' || (c34)::VARCHAR || ' of the organization, which nobody had made') END END AS c65 FROM 
(SELECT c5 AS c5, c6 AS c6, c34 AS c34, c35 AS c35, c36 AS c36, c38 AS c38 FROM 
(SELECT c5, c6, c34, c35, c36, TRUE AS c38 FROM 
(SELECT c5, c6, c34, min(c4) AS c35, min(CASE WHEN (((c28 < c34) AND (NOT (c3 <= add_wrapped(greatest(c4, c27), CASE WHEN c18 THEN (900000000)::BIGINT ELSE 3600000000::BIGINT END)))) AND (NOT list_any(list_transform(coalesce(c19, CAST([] AS STRUCT("since" BIGINT, "until" BIGINT)[])), lambda v37: ((c3 >= (v37)."since") AND (c3 <= (v37)."until")))))) THEN c3 END) AS c36 FROM 
(SELECT c5, c6, c3, c18, c19, c28, c27, c34, c4 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c5, c6, c3, c18, c19, c28, c27 FROM 
(SELECT c5, c6, c3, c18, c19, c27, coalesce(CASE WHEN coalesce(list_any(list_transform(c20, lambda v29: ((c8 > (v29)."after") AND (c8 < (v29)."before")))), FALSE) THEN c25 ELSE c26 END, (0)::BIGINT) AS c28, c27 FROM 
(SELECT *, max(c21) OVER (PARTITION BY c5, c6 ORDER BY c8 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS c25, max(c22) OVER (PARTITION BY c5, c6 ORDER BY c8 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS c26, last_value(c24 IGNORE NULLS) OVER (PARTITION BY c5, c6 ORDER BY c8 ASC NULLS FIRST RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS c27 FROM 
(SELECT c5, c6, c8, c3, c18, c19, c20, CASE WHEN (c7 = 'organization.read') THEN c10 END AS c21, CASE WHEN (NOT coalesce(list_any(list_transform(c20, lambda v23: ((c8 > (v23)."after") AND (c8 < (v23)."before")))), FALSE)) THEN CASE WHEN (c7 = 'organization.read') THEN c10 END END AS c22, CASE WHEN (c7 = 'node.started') THEN c3 END AS c24 FROM 
(SELECT c5, c6, c8, c3, c7, c10, c18, c19, c20 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c5, c6, c8, c3, c7, c10 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c5, c6, c8, c3, c7, c9 AS c10 FROM 
(SELECT "trace" AS c5, "node" AS c6, "type" AS c7, "seq" AS c8, "at" AS c3, "revision" AS c9 FROM "silver/events"))) SEMI JOIN 
(SELECT * FROM 
(SELECT DISTINCT c11 FROM 
(SELECT c11 FROM 
(SELECT c11 FROM 
(SELECT c11, c14 FROM 
(SELECT "trace" AS c11, "type" AS c13, "revision" AS c14, "family" AS c12 FROM "silver/events") WHERE ((c12 IN ('run')) AND (c13 IN ('organization.changed')))) GROUP BY c11, c14)))) ON (c5 = c11)))) JOIN 
(SELECT * FROM 
(SELECT c16, c17, c18, c19, c20 FROM 
(SELECT "trace" AS c16, "node" AS c17, "exact" AS c18, "hindered" AS c19, "gone" AS c15, "undone_spans" AS c20 FROM "evidence/nodes") WHERE (NOT c15))) ON ((c5 = c16) AND (c6 = c17))))))))) JOIN 
(SELECT * FROM 
(SELECT c32, c34, min(c33) AS c4 FROM 
(SELECT c32, c33, c34 FROM 
(SELECT "trace" AS c32, "type" AS c31, "at" AS c33, "revision" AS c34, "family" AS c30 FROM "silver/events") WHERE ((c30 IN ('run')) AND (c31 IN ('organization.changed')))) GROUP BY c32, c34)) ON (c5 = c32))) WHERE (c3 > c4) GROUP BY c5, c6, c34))
UNION ALL SELECT c44 AS c5, c45 AS c6, c46 AS c34, c41 AS c35, c61 AS c36, c60 AS c38 FROM 
(SELECT c44, c45, c46, c41, CAST(NULL AS BIGINT) AS c61, c60 FROM 
(SELECT c44, c46, c45, c41, FALSE AS c60 FROM 
(SELECT c44, c46, c45, c41 FROM 
(SELECT c44, c46, c45, c41, c40, c39 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c44, c45, c46, c41, c40 FROM 
(SELECT c44, c45, c46, c41, (c47 AND coalesce((c53 AND (NOT list_any(list_transform(coalesce(c51, CAST([] AS STRUCT("since" BIGINT, "until" BIGINT)[])), lambda v54: ((c41 >= (v54)."since") AND (c41 <= (v54)."until")))))), FALSE)) AS c40 FROM 
(SELECT c44, c45, c46, c41, c47, c53, c51 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c44, c45, c46, c41, TRUE AS c47 FROM 
(SELECT c44, c45, c46, c41 FROM 
(SELECT c44, c45, c41, c46 FROM 
(SELECT "trace" AS c44, "node" AS c45, "type" AS c43, "at" AS c41, "revision" AS c46, "family" AS c42 FROM "silver/events") WHERE ((c42 IN ('run')) AND (c43 IN ('organization.read'))))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c48, c49 AS c52, c50 AS c53, c51 FROM 
(SELECT "trace" AS c48, "node" AS c49, "exact" AS c50, "skews" AS c51 FROM "evidence/nodes"))) ON ((c44 = c48) AND (c45 = c52))))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c57, c59, min(c58) AS c39 FROM 
(SELECT c57, c58, c59 FROM 
(SELECT "trace" AS c57, "type" AS c56, "at" AS c58, "revision" AS c59, "family" AS c55 FROM "silver/events") WHERE ((c55 IN ('run')) AND (c56 IN ('organization.changed')))) GROUP BY c57, c59)) ON ((c44 = c57) AND (c46 = c59)))) WHERE ((c39 IS NULL) OR (c40 AND (c41 < subtract_wrapped(c39, (900000000)::BIGINT))))))))) GROUP BY c5))))) WHERE (c1 > (0)::BIGINT));

-- table rules/crossings needs organization.changed
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c11 AS "trace", c49 AS "check", c1 AS "consumed", c50 AS "violations", c51 AS "at", c52 AS "witness" FROM (SELECT * FROM 
(SELECT c11, (c2)."check" AS c49, (c2)."consumed" AS c1, (c2)."violations" AS c50, (c2)."at" AS c51, (c2)."witness" AS c52 FROM 
(SELECT c11, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'mails cross connectors that exist', 'consumed': c46, 'violations': c47, 'at': (c48)."at", 'witness': (c48)."words"}]) AS uc2 FROM 
(SELECT c11, count(1) FILTER (WHERE c43) AS c46, count(1) FILTER (WHERE c44) AS c47, arg_min(CASE WHEN c44 THEN {'at': c42, 'words': c45} END, CASE WHEN c44 THEN {n0: c42 IS NOT NULL, v0: c42, n1: c45 IS NOT NULL, v1: c45} END) AS c48 FROM 
(SELECT c11, c7 AS c42, coalesce(TRUE, FALSE) AS c43, CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce(c41, FALSE)) ELSE FALSE END AS c44, CASE WHEN CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce(c41, FALSE)) ELSE FALSE END THEN (c12 || ' tried <' || coalesce(c13, '') || '> over ' || c8 || ', which was removed or not added yet') END AS c45 FROM 
(SELECT c11, c12, c7, c13, c8, max(coalesce(list_contains_or_null(c39, c8), TRUE)) AS c41 FROM 
(SELECT c11, c12, c4, c7, c13, c8, c6, c3, c5, c39 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c11, c12, c4, c7, c13, c8, c6 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c11, c12, c4, c7, c13, c8, c6 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c11, c12, c4, c7, c13, c8, c6 FROM 
(SELECT c11, c12, c4, c7, c13, c8, c6 FROM 
(SELECT "trace" AS c11, "node" AS c12, "type" AS c10, "seq" AS c4, "at" AS c7, "mail" AS c13, "connector" AS c8, "begun_at" AS c6, "family" AS c9 FROM "silver/events") WHERE ((c9 IN ('mail')) AND (c10 IN ('hop.sent', 'hop.failed')))) WHERE (NOT (coalesce(c8, '') = '')))) SEMI JOIN 
(SELECT * FROM 
(SELECT DISTINCT c14 FROM 
(SELECT c14 FROM 
(SELECT c14 FROM 
(SELECT "trace" AS c14, "type" AS c16, "family" AS c15 FROM "silver/events") WHERE ((c15 IN ('run')) AND (c16 IN ('organization.changed'))))))) ON (c11 = c14)))) ANTI JOIN 
(SELECT * FROM 
(SELECT "trace" AS c17, "node" AS c18 FROM "evidence/restored")) ON ((c11 = c17) AND (c12 = c18))))) JOIN 
(SELECT * FROM 
(SELECT c21, c22, c3, c5, c39 FROM 
(SELECT c21, c22, c3, c5, c39 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c21, c22, c3, c25, c5 FROM 
(SELECT c21, c22, c3, c25, c5 FROM 
(SELECT c21, c22, c3, c25, c5, c5 FROM 
(SELECT *, lead(c24, 1, NULL) OVER (PARTITION BY c21, c22 ORDER BY c3 ASC NULLS FIRST ROWS BETWEEN 1 FOLLOWING AND 1 FOLLOWING) AS c5 FROM 
(SELECT c21, c22, c3, c24, c25 FROM 
(SELECT c21 AS c21, c22 AS c22, c3 AS c3, c24 AS c24, c25 AS c25 FROM 
(SELECT c21, c22, c23 AS c3, c24, c25 FROM 
(SELECT c21, c22, c23, c24, c25 FROM 
(SELECT "trace" AS c21, "node" AS c22, "type" AS c20, "seq" AS c23, "at" AS c24, "revision" AS c25, "family" AS c19 FROM "silver/events") WHERE ((c19 IN ('run')) AND (c20 IN ('organization.read')))))
UNION ALL SELECT c26 AS c21, c27 AS c22, c31 AS c3, c30 AS c24, c32 AS c25 FROM 
(SELECT c26, c27, (c28)::BIGINT AS c31, c30, (c29)::BIGINT AS c32 FROM 
(SELECT c26, c27, c28, CAST(NULL AS BIGINT) AS c30, c29 FROM 
(SELECT c26, c27, 0 AS c28, 0 AS c29 FROM 
(SELECT "trace" AS c26, "node" AS c27 FROM "evidence/nodes"))))))))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c35, c38, list_transform((struct_from_json(c36, '"STRUCT(\"connectors\" STRUCT(\"name\" VARCHAR)[])"'))."connectors", lambda v40: (v40)."name") AS c39 FROM 
(SELECT c35, coalesce(c37, (0)::BIGINT) AS c38, c36 FROM 
(SELECT "trace" AS c35, "type" AS c34, "topology" AS c36, "revision" AS c37, "family" AS c33 FROM "silver/events") WHERE ((c33 IN ('run')) AND (c34 IN ('run.started', 'organization.changed')))))) ON ((c21 = c35) AND (c25 = c38)))))) ON ((c11 = c21) AND (c12 = c22)))) WHERE ((c3 < c4) AND coalesce((c5 >= coalesce(c6, c7)), TRUE)) GROUP BY c11, c12, c4, c7, c13, c8)) GROUP BY c11))))) WHERE (c1 > (0)::BIGINT));

-- table rules/overtakings needs hop.sent
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c6 AS "trace", c95 AS "check", c1 AS "consumed", c96 AS "violations", c97 AS "at", c98 AS "witness" FROM (SELECT * FROM 
(SELECT c6, (c2)."check" AS c95, (c2)."consumed" AS c1, (c2)."violations" AS c96, (c2)."at" AS c97, (c2)."witness" AS c98 FROM 
(SELECT c6, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'urgent mails go first', 'consumed': c92, 'violations': c93, 'at': (c94)."at", 'witness': (c94)."words"}]) AS uc2 FROM 
(SELECT c6, count(1) FILTER (WHERE c89) AS c92, count(1) FILTER (WHERE c90) AS c93, arg_min(CASE WHEN c90 THEN {'at': c88, 'words': c91} END, CASE WHEN c90 THEN {n0: c88 IS NOT NULL, v0: c88, n1: c91 IS NOT NULL, v1: c91} END) AS c94 FROM 
(SELECT c6, c8 AS c88, coalesce((c87 > (0)::BIGINT), FALSE) AS c89, CASE WHEN coalesce((c87 > (0)::BIGINT), FALSE) THEN (NOT coalesce(((c85 <= (1)::BIGINT) AND (c86 = (0)::BIGINT)), FALSE)) ELSE FALSE END AS c90, CASE WHEN CASE WHEN coalesce((c87 > (0)::BIGINT), FALSE) THEN (NOT coalesce(((c85 <= (1)::BIGINT) AND (c86 = (0)::BIGINT)), FALSE)) ELSE FALSE END THEN (c7 || ' sent <' || c9 || '>, ' || c38 || ', after ' || (add_wrapped(c85, c86))::VARCHAR || ' less urgent mails') END AS c91 FROM 
(SELECT c6, c7, c8, c9, c38, count(1) FILTER (WHERE (((c84 < c42) AND (c82 < c8)) AND (c83 = c35))) AS c85, count(1) FILTER (WHERE (((c84 < c42) AND (c82 < c8)) AND (c83 > c35))) AS c86, count(1) FILTER (WHERE ((NOT (c84 = c42)) AND (c83 = c35))) AS c87 FROM 
(SELECT c6, c7, c11, c9, c8, c35, c38, c42, c82, c83, c84 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c6, c7, c9, c8, c11, c10, c35, c38, c42 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c6, c7, c8, c9, c11, c10 FROM 
(SELECT c6, c11, c7, c8, c9, c10 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c6, c7, c8, c9, c10, c11, c3 FROM 
(SELECT "trace" AS c6, "node" AS c7, "type" AS c5, "at" AS c8, "mail" AS c9, "next_hop" AS c10, "connector" AS c11, "attempt" AS c3, "family" AS c4 FROM "silver/events") WHERE ((c4 IN ('mail')) AND (c5 IN ('hop.sent')))) WHERE (c3 = (1)::BIGINT)) SEMI JOIN 
(SELECT * FROM 
(SELECT c15, c19 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c15, c19 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c15, (c12)."name" AS c19 FROM 
(SELECT c15, c12 FROM 
(SELECT * EXCLUDE (uc12), uc12 AS c12 FROM (SELECT *, unnest(list_filter(coalesce((c17)."connectors", CAST([] AS STRUCT("name" VARCHAR, "kind" VARCHAR, "size_limit" VARCHAR, "senders" VARCHAR[], "bandwidth" VARCHAR, "relay" VARCHAR)[])), lambda v18: ((v18)."bandwidth" IS NOT NULL))) AS uc12 FROM 
(SELECT c15, struct_from_json(c16, '"STRUCT(\"connectors\" STRUCT(\"name\" VARCHAR, \"kind\" VARCHAR, \"size_limit\" VARCHAR, \"senders\" VARCHAR[], \"bandwidth\" VARCHAR, \"relay\" VARCHAR)[], \"domain\" VARCHAR)"') AS c17 FROM 
(SELECT c15, c16 FROM 
(SELECT "trace" AS c15, "type" AS c14, "topology" AS c16, "family" AS c13 FROM "silver/events") WHERE ((c13 IN ('run')) AND (c14 IN ('run.started')))))))))) ANTI JOIN 
(SELECT * FROM 
(SELECT DISTINCT c20 FROM 
(SELECT c20 FROM 
(SELECT c20, c21 FROM 
(SELECT "trace" AS c20, "type" AS c23, "kind" AS c21, "family" AS c22 FROM "silver/events") WHERE ((c22 IN ('run')) AND (c23 IN ('fault.injected')))) WHERE (c21 = 'delay')))) ON (c15 = c20)))) ANTI JOIN 
(SELECT * FROM 
(SELECT DISTINCT c24 FROM 
(SELECT c24 FROM 
(SELECT c24 FROM 
(SELECT "trace" AS c24, "type" AS c26, "family" AS c25 FROM "silver/events") WHERE ((c25 IN ('run')) AND (c26 IN ('organization.changed'))))))) ON (c15 = c24)))) ON ((c6 = c15) AND (c11 = c19)))))) JOIN 
(SELECT * FROM 
(SELECT c30, c31, c33, c35, c38, map_extract_value(MAP {'not urgent': (-1), 'normal': 0, 'urgent': 1}, c38) AS c42 FROM 
(SELECT c30, c31, c33, c35, c38 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c30, c31, c33, c32 AS c35, c34 FROM 
(SELECT "trace" AS c30, "node" AS c31, "at" AS c32, "mail" AS c33, "message_type" AS c28, "folder" AS c34, "what" AS c27, "untouched" AS c29 FROM "evidence/listed") WHERE (((c27 = 'mail') AND (c28 IN ((4)::BIGINT, 2147483652::BIGINT))) AND c29))) JOIN 
(SELECT * FROM 
(SELECT c36, concat_ws(':', c40, (c37)::VARCHAR) AS c41, c38 FROM 
(SELECT c36, c37, c38, c40 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT "trace" AS c36, "n" AS c37, "priority" AS c38 FROM "organization/genesis")) JOIN 
(SELECT * FROM 
(SELECT "trace" AS c39, "guid" AS c40 FROM "organization/setup")) ON (c36 = c39))))) ON ((c30 = c36) AND (c34 = c41)))))) ON (((c6 = c30) AND (c7 = c31)) AND (c9 = c33))))) JOIN 
(SELECT * FROM 
(SELECT c46, c47, c51, c50, c48 AS c82, c74 AS c83, c81 AS c84 FROM 
(SELECT c46, c47, c48, c51, c50, c74, c81 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c46, c47, c48, c49, c51, c50 FROM 
(SELECT c46, c51, c47, c48, c49, c50 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c46, c47, c48, c49, c50, c51, c43 FROM 
(SELECT "trace" AS c46, "node" AS c47, "type" AS c45, "at" AS c48, "mail" AS c49, "next_hop" AS c50, "connector" AS c51, "attempt" AS c43, "family" AS c44 FROM "silver/events") WHERE ((c44 IN ('mail')) AND (c45 IN ('hop.sent')))) WHERE (c43 = (1)::BIGINT)) SEMI JOIN 
(SELECT * FROM 
(SELECT c55, c58 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c55, c58 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c55, (c52)."name" AS c58 FROM 
(SELECT c55, c52 FROM 
(SELECT * EXCLUDE (uc52), uc52 AS c52 FROM (SELECT *, unnest(list_filter(coalesce((c57)."connectors", CAST([] AS STRUCT("name" VARCHAR, "kind" VARCHAR, "size_limit" VARCHAR, "senders" VARCHAR[], "bandwidth" VARCHAR, "relay" VARCHAR)[])), lambda v18: ((v18)."bandwidth" IS NOT NULL))) AS uc52 FROM 
(SELECT c55, struct_from_json(c56, '"STRUCT(\"connectors\" STRUCT(\"name\" VARCHAR, \"kind\" VARCHAR, \"size_limit\" VARCHAR, \"senders\" VARCHAR[], \"bandwidth\" VARCHAR, \"relay\" VARCHAR)[], \"domain\" VARCHAR)"') AS c57 FROM 
(SELECT c55, c56 FROM 
(SELECT "trace" AS c55, "type" AS c54, "topology" AS c56, "family" AS c53 FROM "silver/events") WHERE ((c53 IN ('run')) AND (c54 IN ('run.started')))))))))) ANTI JOIN 
(SELECT * FROM 
(SELECT DISTINCT c59 FROM 
(SELECT c59 FROM 
(SELECT c59, c60 FROM 
(SELECT "trace" AS c59, "type" AS c62, "kind" AS c60, "family" AS c61 FROM "silver/events") WHERE ((c61 IN ('run')) AND (c62 IN ('fault.injected')))) WHERE (c60 = 'delay')))) ON (c55 = c59)))) ANTI JOIN 
(SELECT * FROM 
(SELECT DISTINCT c63 FROM 
(SELECT c63 FROM 
(SELECT c63 FROM 
(SELECT "trace" AS c63, "type" AS c65, "family" AS c64 FROM "silver/events") WHERE ((c64 IN ('run')) AND (c65 IN ('organization.changed'))))))) ON (c55 = c63)))) ON ((c46 = c55) AND (c51 = c58)))))) JOIN 
(SELECT * FROM 
(SELECT c69, c70, c72, c74, map_extract_value(MAP {'not urgent': (-1), 'normal': 0, 'urgent': 1}, c77) AS c81 FROM 
(SELECT c69, c70, c72, c74, c77 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c69, c70, c72, c71 AS c74, c73 FROM 
(SELECT "trace" AS c69, "node" AS c70, "at" AS c71, "mail" AS c72, "message_type" AS c67, "folder" AS c73, "what" AS c66, "untouched" AS c68 FROM "evidence/listed") WHERE (((c66 = 'mail') AND (c67 IN ((4)::BIGINT, 2147483652::BIGINT))) AND c68))) JOIN 
(SELECT * FROM 
(SELECT c75, concat_ws(':', c79, (c76)::VARCHAR) AS c80, c77 FROM 
(SELECT c75, c76, c77, c79 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT "trace" AS c75, "n" AS c76, "priority" AS c77 FROM "organization/genesis")) JOIN 
(SELECT * FROM 
(SELECT "trace" AS c78, "guid" AS c79 FROM "organization/setup")) ON (c75 = c78))))) ON ((c69 = c75) AND (c73 = c80)))))) ON (((c46 = c69) AND (c47 = c70)) AND (c49 = c72)))))) ON ((((c6 = c46) AND (c7 = c47)) AND (c11 = c51)) AND (c10 = c50)))) GROUP BY c6, c7, c8, c9, c11, c38)) GROUP BY c6))))) WHERE (c1 > (0)::BIGINT));

-- table rules/unknown_peers needs hop.received
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c6 AS "trace", c27 AS "check", c1 AS "consumed", c28 AS "violations", c29 AS "at", c30 AS "witness" FROM (SELECT * FROM 
(SELECT c6, (c2)."check" AS c27, (c2)."consumed" AS c1, (c2)."violations" AS c28, (c2)."at" AS c29, (c2)."witness" AS c30 FROM 
(SELECT c6, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'no open relay', 'consumed': c24, 'violations': c25, 'at': (c26)."at", 'witness': (c26)."words"}]) AS uc2 FROM 
(SELECT c6, count(1) FILTER (WHERE c19) AS c24, count(1) FILTER (WHERE c20) AS c25, arg_min(CASE WHEN c20 THEN {'at': c18, 'words': c22} END, CASE WHEN c20 THEN {n0: c18 IS NOT NULL, v0: c18, n1: c22 IS NOT NULL, v1: c22} END) AS c26 FROM 
(SELECT c6, c8 AS c18, coalesce(TRUE, FALSE) AS c19, CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce(list_all(list_transform(c10, lambda v21: (lower(v21) LIKE ('%@' || lower(c17)) ESCAPE '\'))), FALSE)) ELSE FALSE END AS c20, CASE WHEN CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce(list_all(list_transform(c10, lambda v23: (lower(v23) LIKE ('%@' || lower(c17)) ESCAPE '\'))), FALSE)) ELSE FALSE END THEN (c7 || ' accepted <' || coalesce(c9, '') || '> from the unknown peer ' || c11 || ' to ' || list_text(c10, ', ')) END AS c22 FROM 
(SELECT c6, c7, c8, c9, c11, c10, c17 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c6, c7, c8, c9, c11, c10, c3 FROM 
(SELECT "trace" AS c6, "node" AS c7, "type" AS c5, "at" AS c8, "mail" AS c9, "recipients" AS c10, "peer" AS c11, "authenticated" AS c3, "family" AS c4 FROM "silver/events") WHERE ((c4 IN ('mail')) AND (c5 IN ('hop.received')))) WHERE (NOT c3)) LEFT JOIN 
(SELECT * FROM 
(SELECT c14, (c16)."domain" AS c17 FROM 
(SELECT c14, struct_from_json(c15, '"STRUCT(\"connectors\" STRUCT(\"name\" VARCHAR, \"kind\" VARCHAR, \"size_limit\" VARCHAR, \"senders\" VARCHAR[], \"bandwidth\" VARCHAR, \"relay\" VARCHAR)[], \"domain\" VARCHAR)"') AS c16 FROM 
(SELECT c14, c15 FROM 
(SELECT "trace" AS c14, "type" AS c13, "topology" AS c15, "family" AS c12 FROM "silver/events") WHERE ((c12 IN ('run')) AND (c13 IN ('run.started'))))))) ON (c6 = c14)))) GROUP BY c6))))) WHERE (c1 > (0)::BIGINT));

-- table rules/facts
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c5 AS "trace", c641 AS "check", c1 AS "consumed", c642 AS "violations", c643 AS "at", c644 AS "witness" FROM (SELECT * FROM 
(SELECT c5, (c2)."check" AS c641, (c2)."consumed" AS c1, (c2)."violations" AS c642, (c2)."at" AS c643, (c2)."witness" AS c644 FROM 
(SELECT c5, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'events agree with each other', 'consumed': c632, 'violations': c633, 'at': (c634)."at", 'witness': (c634)."words"}, {'check': 'what an event repeats was said before', 'consumed': c635, 'violations': c636, 'at': (c637)."at", 'witness': (c637)."words"}, {'check': 'what is sent arrives', 'consumed': c638, 'violations': c639, 'at': (c640)."at", 'witness': (c640)."words"}]) AS uc2 FROM 
(SELECT c5, count(1) FILTER (WHERE c623) AS c632, count(1) FILTER (WHERE c624) AS c633, arg_min(CASE WHEN c624 THEN {'at': c622, 'words': c625} END, CASE WHEN c624 THEN {n0: c622 IS NOT NULL, v0: c622, n1: c625 IS NOT NULL, v1: c625} END) AS c634, count(1) FILTER (WHERE c626) AS c635, count(1) FILTER (WHERE c627) AS c636, arg_min(CASE WHEN c627 THEN {'at': c622, 'words': c628} END, CASE WHEN c627 THEN {n0: c622 IS NOT NULL, v0: c622, n1: c628 IS NOT NULL, v1: c628} END) AS c637, count(1) FILTER (WHERE c629) AS c638, count(1) FILTER (WHERE c630) AS c639, arg_min(CASE WHEN c630 THEN {'at': c622, 'words': c631} END, CASE WHEN c630 THEN {n0: c622 IS NOT NULL, v0: c622, n1: c631 IS NOT NULL, v1: c631} END) AS c640 FROM 
(SELECT c5, c587 AS c622, coalesce(c618, FALSE) AS c623, CASE WHEN coalesce(c618, FALSE) THEN (NOT coalesce((c604 IS NULL), FALSE)) ELSE FALSE END AS c624, CASE WHEN CASE WHEN coalesce(c618, FALSE) THEN (NOT coalesce((c604 IS NULL), FALSE)) ELSE FALSE END THEN ((c604)."node" || ' says in ' || (c604)."type" || ' something else' || ' of the ' || c18 || CASE WHEN regexp_matches(c20, '[0-9a-f]{32}') THEN '' ELSE (' <' || c20 || '>') END || ' than ' || (c617)."node" || ' in ' || (c617)."type") END AS c625, coalesce(TRUE, FALSE) AS c626, CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce((c611 IS NULL), FALSE)) ELSE FALSE END AS c627, CASE WHEN CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce((c611 IS NULL), FALSE)) ELSE FALSE END THEN ((c611)."node" || ' has ' || (c611)."type" || ' of the ' || c18 || CASE WHEN regexp_matches(c20, '[0-9a-f]{32}') THEN '' ELSE (' <' || c20 || '>') END || ', whose beginning is not in the trace') END AS c628, coalesce((c621 AND c593), FALSE) AS c629, CASE WHEN coalesce((c621 AND c593), FALSE) THEN (NOT coalesce((c613 IS NULL), FALSE)) ELSE FALSE END AS c630, CASE WHEN CASE WHEN coalesce((c621 AND c593), FALSE) THEN (NOT coalesce((c613 IS NULL), FALSE)) ELSE FALSE END THEN ((c613)."node" || ' has ' || (c613)."type" || ' of the ' || c18 || CASE WHEN regexp_matches(c20, '[0-9a-f]{32}') THEN '' ELSE (' <' || c20 || '>') END || ', but nothing followed') END AS c631 FROM 
(SELECT c5, c18, c20, c587, c593, c604, c611, c613, c617, c618, c621 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c5, c18, c20, c587, c593, coalesce(CASE WHEN (c18 IN ('mail', 'version', 'author''s GUID', 'fault', 'address', 'backup', 'copy in a queue', 'own replica', 'reader of a mail', 'mail to a folder', 'age limit', 'default of a setting')) THEN list_extract(list_filter(c594, lambda v605: ((NOT (v605)."undone") AND list_any(list_transform(c594, lambda v606: ((NOT (v606)."undone") AND coalesce(list_any(list_transform(number_series(0, (coalesce(len((v605)."says")::INTEGER, -1) - 1)), lambda v607: (NOT (list_item((v605)."says", v607) = list_item((v606)."says", v607))))), FALSE)))))), 1) END, list_extract(list_filter(c599, lambda v608: ((coalesce(len(c594)::INTEGER, -1) > 0) AND list_all(list_transform(c594, lambda v609: coalesce(list_any(list_transform(number_series(0, (coalesce(len((v608)."says")::INTEGER, -1) - 1)), lambda v610: (NOT (list_item((v608)."says", v610) = list_item((v609)."says", v610))))), FALSE))))), 1)) AS c604, CASE WHEN (NOT c590) THEN list_extract(list_filter(c599, lambda v612: ((v612)."how" = 'repeats')), 1) END AS c611, list_extract(list_filter(c594, lambda v614: ((v614)."repeated" AND list_all(list_transform(c599, lambda v615: coalesce(list_any(list_transform(number_series(0, (coalesce(len((v614)."says")::INTEGER, -1) - 1)), lambda v616: (NOT (list_item((v614)."says", v616) = list_item((v615)."says", v616))))), FALSE))))), 1) AS c613, list_extract(c594, 1) AS c617, (coalesce(len(c588)::INTEGER, -1) > 1) AS c618 FROM 
(SELECT c5, c18, c20, c587, c588, c590, c593, c594, CASE WHEN (((NOT c589) OR (c593 AND (NOT c592))) OR ((NOT c590) AND c591)) THEN list_filter(list_transform(list_transform(list_sort(c588, 'ASC', 'NULLS LAST'), lambda v602: str_split(v602, '')), lambda v601: {'how': list_item(v601, 0), 'says': list_transform(str_split(list_item(v601, 1), ''), lambda v603: CASE WHEN (v603 = '') THEN CAST(NULL AS VARCHAR) ELSE v603 END), 'type': list_item(v601, 2), 'node': list_item(v601, 3), 'repeated': (list_item(v601, 4) = 'true'), 'undone': (list_item(v601, 5) = 'true')}), lambda v600: (NOT ((v600)."how" = 'first'))) END AS c599 FROM 
(SELECT c5, c18, c20, c587, c588, c589, c590, c591, c592, c593, CASE WHEN (((NOT c589) OR (c593 AND (NOT c592))) OR ((NOT c590) AND c591)) THEN list_filter(list_transform(list_transform(list_sort(c588, 'ASC', 'NULLS LAST'), lambda v597: str_split(v597, '')), lambda v596: {'how': list_item(v596, 0), 'says': list_transform(str_split(list_item(v596, 1), ''), lambda v598: CASE WHEN (v598 = '') THEN CAST(NULL AS VARCHAR) ELSE v598 END), 'type': list_item(v596, 2), 'node': list_item(v596, 3), 'repeated': (list_item(v596, 4) = 'true'), 'undone': (list_item(v596, 5) = 'true')}), lambda v595: ((v595)."how" = 'first')) END AS c594 FROM 
(SELECT c5, c18, c20, min(c17) AS c587, coalesce(list(DISTINCT concat_ws('', c19, c21, c10, c16, (c22)::VARCHAR, (c23)::VARCHAR)) FILTER (WHERE concat_ws('', c19, c21, c10, c16, (c22)::VARCHAR, (c23)::VARCHAR) IS NOT NULL), []) AS c588, (min(c21) IS NOT DISTINCT FROM max(c21)) AS c589, max((c19 = 'first')) AS c590, max((c19 = 'repeats')) AS c591, max((NOT (c19 = 'first'))) AS c592, max(c22) AS c593 FROM 
(SELECT c5 AS c5, c16 AS c16, c17 AS c17, c10 AS c10, c18 AS c18, c19 AS c19, c20 AS c20, c21 AS c21, c22 AS c22, c23 AS c23 FROM 
(SELECT c5, c14 AS c16, c15 AS c17, c10, 'version' AS c18, 'first' AS c19, concat_ws(' ', c8) AS c20, concat_ws('', coalesce(c7, ''), coalesce(c6, ''), coalesce('folder', ''), coalesce(c8, ''), coalesce((c15)::VARCHAR, ''), coalesce(CAST(NULL AS VARCHAR), ''), coalesce('false', '')) AS c21, FALSE AS c22, FALSE AS c23 FROM 
(SELECT c5, c6, c7, c8, c14, c15, c10 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c5, c6, c7, c8 FROM 
(SELECT "trace" AS c5, "store" AS c4, "folder" AS c6, "object" AS c7, "act" AS c3, "number" AS c8 FROM "evidence/versions") WHERE ((c3 IS NOT DISTINCT FROM 'made') AND (c4 IS NOT DISTINCT FROM 'Setup')))) JOIN 
(SELECT * FROM 
(SELECT c11, c14, c15, c10 FROM 
(SELECT c11, c12 AS c14, c13 AS c15, c10 FROM 
(SELECT c11, c10, c12, c13 FROM 
(SELECT "trace" AS c11, "node" AS c12, "type" AS c10, "at" AS c13, "family" AS c9 FROM "silver/events") WHERE ((c9 IN ('run')) AND (c10 IN ('run.started'))))))) ON (c5 = c11))))
UNION ALL SELECT c26 AS c5, c35 AS c16, c36 AS c17, c29 AS c10, c37 AS c18, c38 AS c19, c39 AS c20, c40 AS c21, c41 AS c22, c42 AS c23 FROM 
(SELECT c26, c35, c36, c29, c37, c38, c39, c40, c41, c42 FROM 
(SELECT c26, c33 AS c35, c34 AS c36, c29, 'folder' AS c37, 'first' AS c38, concat_ws(' ', c27) AS c39, concat_ws('', '') AS c40, FALSE AS c41, FALSE AS c42 FROM 
(SELECT c26, c27, c33, c34, c29 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c26, c27 FROM 
(SELECT "trace" AS c26, "store" AS c25, "object" AS c27, "act" AS c24 FROM "evidence/versions") WHERE ((c24 IS NOT DISTINCT FROM 'made') AND (c25 IS NOT DISTINCT FROM 'Setup')))) JOIN 
(SELECT * FROM 
(SELECT c30, c33, c34, c29 FROM 
(SELECT c30, c31 AS c33, c32 AS c34, c29 FROM 
(SELECT c30, c29, c31, c32 FROM 
(SELECT "trace" AS c30, "node" AS c31, "type" AS c29, "at" AS c32, "family" AS c28 FROM "silver/events") WHERE ((c28 IN ('run')) AND (c29 IN ('run.started'))))))) ON (c26 = c30)))))
UNION ALL SELECT c46 AS c5, c56 AS c16, c57 AS c17, c50 AS c10, c58 AS c18, c59 AS c19, c60 AS c20, c61 AS c21, c62 AS c22, c63 AS c23 FROM 
(SELECT c46, c56, c57, c50, c58, c59, c60, c61, c62, c63 FROM 
(SELECT c46, c54 AS c56, c55 AS c57, c50, 'holder' AS c58, 'first' AS c59, concat_ws(' ', c47, c43) AS c60, concat_ws('', '') AS c61, FALSE AS c62, FALSE AS c63 FROM 
(SELECT c46, c47, c54, c55, c50, c43 FROM 
(SELECT * EXCLUDE (uc43), uc43 AS c43 FROM (SELECT *, unnest(c48) AS uc43 FROM 
(SELECT c46, c47, c48, c54, c55, c50 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c46, c47, c48 FROM 
(SELECT "trace" AS c46, "store" AS c45, "object" AS c47, "act" AS c44, "replicas" AS c48 FROM "evidence/versions") WHERE ((c44 IS NOT DISTINCT FROM 'made') AND (c45 IS NOT DISTINCT FROM 'Setup')))) JOIN 
(SELECT * FROM 
(SELECT c51, c54, c55, c50 FROM 
(SELECT c51, c52 AS c54, c53 AS c55, c50 FROM 
(SELECT c51, c50, c52, c53 FROM 
(SELECT "trace" AS c51, "node" AS c52, "type" AS c50, "at" AS c53, "family" AS c49 FROM "silver/events") WHERE ((c49 IN ('run')) AND (c50 IN ('run.started'))))))) ON (c46 = c51))))))))
UNION ALL SELECT c66 AS c5, c73 AS c16, c74 AS c17, c65 AS c10, c75 AS c18, c76 AS c19, c77 AS c20, c78 AS c21, c79 AS c22, c80 AS c23 FROM 
(SELECT c66, c73, c74, c65, c75, c76, c77, c78, c79, c80 FROM 
(SELECT c66, c70 AS c73, c71 AS c74, c65, 'mail domain' AS c75, 'first' AS c76, concat_ws(' ', (c72)."domain") AS c77, concat_ws('', '') AS c78, FALSE AS c79, FALSE AS c80 FROM 
(SELECT c66, c67 AS c70, c68 AS c71, c65, struct_from_json(c69, '"STRUCT(\"domain\" VARCHAR, \"recipient_policies\" STRUCT(\"domain\" VARCHAR)[], \"settings\" MAP(VARCHAR, VARCHAR), \"servers\" MAP(VARCHAR, STRUCT(\"version\" VARCHAR, \"settings\" MAP(VARCHAR, VARCHAR))))"') AS c72 FROM 
(SELECT c66, c65, c67, c68, c69 FROM 
(SELECT "trace" AS c66, "node" AS c67, "type" AS c65, "at" AS c68, "topology" AS c69, "family" AS c64 FROM "silver/events") WHERE ((c64 IN ('run')) AND (c65 IN ('run.started')))))))
UNION ALL SELECT c84 AS c5, c91 AS c16, c92 AS c17, c83 AS c10, c93 AS c18, c94 AS c19, c95 AS c20, c96 AS c21, c97 AS c22, c98 AS c23 FROM 
(SELECT c84, c91, c92, c83, c93, c94, c95, c96, c97, c98 FROM 
(SELECT c84, c88 AS c91, c89 AS c92, c83, 'mail domain' AS c93, 'first' AS c94, concat_ws(' ', (c81)."domain") AS c95, concat_ws('', '') AS c96, FALSE AS c97, FALSE AS c98 FROM 
(SELECT c84, c88, c89, c83, c81 FROM 
(SELECT * EXCLUDE (uc81), uc81 AS c81 FROM (SELECT *, unnest((c90)."recipient_policies") AS uc81 FROM 
(SELECT c84, c85 AS c88, c86 AS c89, c83, struct_from_json(c87, '"STRUCT(\"domain\" VARCHAR, \"recipient_policies\" STRUCT(\"domain\" VARCHAR)[], \"settings\" MAP(VARCHAR, VARCHAR), \"servers\" MAP(VARCHAR, STRUCT(\"version\" VARCHAR, \"settings\" MAP(VARCHAR, VARCHAR))))"') AS c90 FROM 
(SELECT c84, c83, c85, c86, c87 FROM 
(SELECT "trace" AS c84, "node" AS c85, "type" AS c83, "at" AS c86, "topology" AS c87, "family" AS c82 FROM "silver/events") WHERE ((c82 IN ('run')) AND (c83 IN ('run.started'))))))))))
UNION ALL SELECT c103 AS c5, c110 AS c16, c111 AS c17, c102 AS c10, c112 AS c18, c113 AS c19, c114 AS c20, c115 AS c21, c116 AS c22, c117 AS c23 FROM 
(SELECT c103, c110, c111, c102, c112, c113, c114, c115, c116, c117 FROM 
(SELECT c103, c107 AS c110, c108 AS c111, c102, 'server' AS c112, 'first' AS c113, concat_ws(' ', c99) AS c114, concat_ws('', coalesce((c100)."version", '')) AS c115, FALSE AS c116, FALSE AS c117 FROM 
(SELECT c103, c107, c108, c102, c99, c100 FROM 
(SELECT * EXCLUDE (uc99), uc99.key AS c99, uc99.value AS c100 FROM (SELECT *, unnest(map_entries((c109)."servers")) AS uc99 FROM 
(SELECT c103, c104 AS c107, c105 AS c108, c102, struct_from_json(c106, '"STRUCT(\"connectors\" STRUCT(\"name\" VARCHAR)[], \"servers\" MAP(VARCHAR, STRUCT(\"version\" VARCHAR)))"') AS c109 FROM 
(SELECT c103, c104, c105, c102, c106 FROM 
(SELECT "trace" AS c103, "node" AS c104, "type" AS c102, "at" AS c105, "topology" AS c106, "family" AS c101 FROM "silver/events") WHERE ((c101 IN ('run')) AND (c102 IN ('run.started', 'organization.changed'))))))))))
UNION ALL SELECT c124 AS c5, c134 AS c16, c135 AS c17, c123 AS c10, c136 AS c18, c137 AS c19, c138 AS c20, c139 AS c21, c140 AS c22, c141 AS c23 FROM 
(SELECT c124, c134, c135, c123, c136, c137, c138, c139, c140, c141 FROM 
(SELECT c124, c128 AS c134, c129 AS c135, c123, 'setting' AS c136, 'first' AS c137, concat_ws(' ', c120, c118, (c129)::VARCHAR) AS c138, concat_ws('', coalesce(CASE WHEN regexp_matches(c119, '^[0-9]+ (s|min|h|d)(?:\r\n|[\n\r\x{85}\x{2028}\x{2029}])?\z') THEN (multiply_wrapped(text_to_bigint(split_part(c119, ' ', 1)), (map_extract_value(MAP {'s': 1, 'min': 60, 'h': 3600, 'd': 86400}, split_part(c119, ' ', 2)))::BIGINT))::VARCHAR ELSE lower(regexp_replace(c119, ' (KB|MB)\z', '', 'g')) END, '')) AS c139, FALSE AS c140, FALSE AS c141 FROM 
(SELECT c124, c128, c129, c123, c120, c118, c119 FROM 
(SELECT * EXCLUDE (uc118), uc118.key AS c118, uc118.value AS c119 FROM (SELECT *, unnest(map_entries(map_from_entries(list_transform(list_unique(map_keys(coalesce((c130)."settings", CAST(MAP {} AS MAP(VARCHAR, VARCHAR)))) || map_keys(coalesce((c121)."settings", CAST(MAP {} AS MAP(VARCHAR, VARCHAR))))), lambda pv131: {'key': pv131, 'value': coalesce(map_extract_value(coalesce((c121)."settings", CAST(MAP {} AS MAP(VARCHAR, VARCHAR))), pv131), map_extract_value(coalesce((c130)."settings", CAST(MAP {} AS MAP(VARCHAR, VARCHAR))), pv131))})))) AS uc118 FROM 
(SELECT c124, c128, c129, c123, c130, c120, c121 FROM 
(SELECT * EXCLUDE (uc120), uc120.key AS c120, uc120.value AS c121 FROM (SELECT *, unnest(map_entries((c130)."servers")) AS uc120 FROM 
(SELECT c124, c125 AS c128, c126 AS c129, c123, struct_from_json(c127, '"STRUCT(\"domain\" VARCHAR, \"recipient_policies\" STRUCT(\"domain\" VARCHAR)[], \"settings\" MAP(VARCHAR, VARCHAR), \"servers\" MAP(VARCHAR, STRUCT(\"version\" VARCHAR, \"settings\" MAP(VARCHAR, VARCHAR))))"') AS c130 FROM 
(SELECT c124, c123, c125, c126, c127 FROM 
(SELECT "trace" AS c124, "node" AS c125, "type" AS c123, "at" AS c126, "topology" AS c127, "family" AS c122 FROM "silver/events") WHERE ((c122 IN ('run')) AND (c123 IN ('run.started')))))))))))))
UNION ALL SELECT c148 AS c5, c155 AS c16, c156 AS c17, c147 AS c10, c157 AS c18, c158 AS c19, c159 AS c20, c160 AS c21, c161 AS c22, c162 AS c23 FROM 
(SELECT c148, c155, c156, c147, c157, c158, c159, c160, c161, c162 FROM 
(SELECT c148, c152 AS c155, c153 AS c156, c147, 'setting' AS c157, 'first' AS c158, concat_ws(' ', c144, c142, (c153)::VARCHAR) AS c159, concat_ws('', coalesce((multiply_wrapped(text_to_bigint(c143), (86400)::BIGINT))::VARCHAR, '')) AS c160, FALSE AS c161, FALSE AS c162 FROM 
(SELECT c148, c152, c153, c147, c144, c142, c143 FROM 
(SELECT * EXCLUDE (uc142), uc142.key AS c142, uc142.value AS c143 FROM (SELECT *, unnest(map_entries(map_from_entries(list_transform(list_unique(map_keys(coalesce((c154)."settings", CAST(MAP {} AS MAP(VARCHAR, VARCHAR)))) || map_keys(coalesce((c145)."settings", CAST(MAP {} AS MAP(VARCHAR, VARCHAR))))), lambda pv131: {'key': pv131, 'value': coalesce(map_extract_value(coalesce((c145)."settings", CAST(MAP {} AS MAP(VARCHAR, VARCHAR))), pv131), map_extract_value(coalesce((c154)."settings", CAST(MAP {} AS MAP(VARCHAR, VARCHAR))), pv131))})))) AS uc142 FROM 
(SELECT c148, c152, c153, c147, c154, c144, c145 FROM 
(SELECT * EXCLUDE (uc144), uc144.key AS c144, uc144.value AS c145 FROM (SELECT *, unnest(map_entries((c154)."servers")) AS uc144 FROM 
(SELECT c148, c149 AS c152, c150 AS c153, c147, struct_from_json(c151, '"STRUCT(\"domain\" VARCHAR, \"recipient_policies\" STRUCT(\"domain\" VARCHAR)[], \"settings\" MAP(VARCHAR, VARCHAR), \"servers\" MAP(VARCHAR, STRUCT(\"version\" VARCHAR, \"settings\" MAP(VARCHAR, VARCHAR))))"') AS c154 FROM 
(SELECT c148, c147, c149, c150, c151 FROM 
(SELECT "trace" AS c148, "node" AS c149, "type" AS c147, "at" AS c150, "topology" AS c151, "family" AS c146 FROM "silver/events") WHERE ((c146 IN ('run')) AND (c147 IN ('run.started')))))))))))))
UNION ALL SELECT c166 AS c5, c173 AS c16, c174 AS c17, c165 AS c10, c175 AS c18, c176 AS c19, c177 AS c20, c178 AS c21, c179 AS c22, c180 AS c23 FROM 
(SELECT c166, c173, c174, c165, c175, c176, c177, c178, c179, c180 FROM 
(SELECT c166, c170 AS c173, c171 AS c174, c165, 'connector' AS c175, 'first' AS c176, concat_ws(' ', (c163)."name") AS c177, concat_ws('', '') AS c178, FALSE AS c179, FALSE AS c180 FROM 
(SELECT c166, c170, c171, c165, c163 FROM 
(SELECT * EXCLUDE (uc163), uc163 AS c163 FROM (SELECT *, unnest((c172)."connectors") AS uc163 FROM 
(SELECT c166, c167 AS c170, c168 AS c171, c165, struct_from_json(c169, '"STRUCT(\"connectors\" STRUCT(\"name\" VARCHAR)[], \"servers\" MAP(VARCHAR, STRUCT(\"version\" VARCHAR)))"') AS c172 FROM 
(SELECT c166, c167, c168, c165, c169 FROM 
(SELECT "trace" AS c166, "node" AS c167, "type" AS c165, "at" AS c168, "topology" AS c169, "family" AS c164 FROM "silver/events") WHERE ((c164 IN ('run')) AND (c165 IN ('run.started', 'organization.changed'))))))))))
UNION ALL SELECT c184 AS c5, c185 AS c16, c187 AS c17, c183 AS c10, c219 AS c18, c220 AS c19, c221 AS c20, c222 AS c21, c223 AS c22, c216 AS c23 FROM 
(SELECT c184, c185, c187, c183, c219, c220, c221, c222, c223, c216 FROM 
(SELECT c184, c185, c187, c183, c216, (c181)."fact" AS c219, (c181)."how" AS c220, (c181)."key" AS c221, (c181)."says" AS c222, ((((c181)."fact" IN ('request', 'recipient at a server', 'request that is sent', 'chosen source', 'status request', 'order to send again')) AND (NOT c216)) AND ((NOT c218) AND ((NOT ((c181)."fact" = 'recipient at a server')) OR coalesce((c187 <= c207), FALSE)))) AS c223 FROM 
(SELECT c184, c185, c187, c183, coalesce(list_any(list_transform(c208, lambda v217: ((c186 > (v217)."after") AND (c186 < (v217)."before")))), FALSE) AS c216, coalesce(c206, FALSE) AS c218, c207, c181 FROM 
(SELECT * EXCLUDE (uc181), uc181 AS c181 FROM (SELECT *, unnest(CASE WHEN (c183 = 'backup.elsewhere') THEN ([{'fact': 'backup', 'how': 'repeats', 'key': (c192), 'says': concat_ws('', coalesce(c193, ''))}, {'fact': 'server', 'how': 'repeats', 'key': (c191), 'says': concat_ws('', '')}]) WHEN (c183 = 'backup.made') THEN ([{'fact': 'backup', 'how': 'first', 'key': (c192), 'says': concat_ws('', coalesce(c191, ''))}]) WHEN (c183 = 'backup.restored') THEN ([{'fact': 'backup', 'how': 'repeats', 'key': (c192), 'says': concat_ws('', coalesce(c191, ''))}]) WHEN (c183 = 'fault.altered') THEN ([{'fact': 'fault', 'how': 'repeats', 'key': (c201), 'says': concat_ws('', coalesce(CAST(NULL AS VARCHAR), ''))}] || flatten(list_transform(coalesce(CASE WHEN (coalesce(len(c203)::INTEGER, -1) = 0) THEN [['']] ELSE list_transform(c203, lambda v213: [v213]) END, CAST([] AS VARCHAR[][])), lambda v212: [{'fact': 'recipient of a mail', 'how': 'if known', 'key': (c188), 'says': concat_ws('', coalesce(list_item(v212, 0), ''))}]))) WHEN (c183 = 'fault.healed') THEN ([{'fact': 'fault', 'how': 'repeats', 'key': (c201), 'says': concat_ws('', coalesce(CAST(NULL AS VARCHAR), ''))}]) WHEN (c183 = 'fault.injected') THEN ([{'fact': 'fault', 'how': 'first', 'key': (c201), 'says': concat_ws('', coalesce(c202, ''))}]) WHEN (c183 = 'node.started') THEN ([{'fact': 'author''s GUID', 'how': 'first', 'key': (c190), 'says': concat_ws('', coalesce(c210, ''))}, {'fact': 'server', 'how': 'repeats', 'key': (c210), 'says': concat_ws('', coalesce(c189, ''))}]) WHEN (c183 = 'organization.changed') THEN ([{'fact': 'change of the organization', 'how': 'first', 'key': ((c195)::VARCHAR), 'says': concat_ws('', '')}]) WHEN (c183 = 'organization.read') THEN ([{'fact': 'change of the organization', 'how': 'repeats', 'key': ((c195)::VARCHAR), 'says': concat_ws('', '')}]) WHEN (c183 = 'recipient.policy') THEN ([{'fact': 'mail domain', 'how': 'first', 'key': (c199), 'says': concat_ws('', '')}] || flatten(list_transform(coalesce(list_transform(c200, lambda v215: [(v215)."domain"]), CAST([] AS VARCHAR[][])), lambda v214: [{'fact': 'mail domain', 'how': 'first', 'key': (list_item(v214, 0)), 'says': concat_ws('', '')}]))) WHEN (c183 = 'setting.value') THEN ([{'fact': 'setting', 'how': 'if known', 'key': (c210 || ' ' || c196 || ' ' || (c187)::VARCHAR), 'says': concat_ws('', coalesce(c211, ''))}, {'fact': 'default of a setting', 'how': 'first', 'key': (c196), 'says': concat_ws('', coalesce(c198, ''))}]) WHEN (c183 = 'store.created') THEN ([{'fact': 'server', 'how': 'repeats', 'key': (c191), 'says': concat_ws('', '')}, {'fact': 'directory object', 'how': 'first', 'key': (c191 || ' ' || c209), 'says': concat_ws('', '')}]) END) AS uc181 FROM 
(SELECT c184, c185, c183, c186, c187, c188, c189, c190, c191, c192, c193, c195, c196, c198, c199, c200, c201, c202, c203, c206, c207, c208, CASE WHEN (c183 IN ('store.created')) THEN (CASE WHEN (c194 = text_to_bigint('0')) THEN CAST(NULL AS BIGINT) ELSE c194 END)::VARCHAR END AS c209, CASE WHEN (c183 IN ('node.started', 'setting.value')) THEN c185 END AS c210, CASE WHEN (c183 IN ('setting.value')) THEN CASE WHEN regexp_matches(c197, '^[0-9]+ (s|min|h|d)(?:\r\n|[\n\r\x{85}\x{2028}\x{2029}])?\z') THEN (multiply_wrapped(text_to_bigint(split_part(c197, ' ', 1)), (map_extract_value(MAP {'s': 1, 'min': 60, 'h': 3600, 'd': 86400}, split_part(c197, ' ', 2)))::BIGINT))::VARCHAR ELSE lower(regexp_replace(c197, ' (KB|MB)\z', '', 'g')) END END AS c211 FROM 
(SELECT c184, c185, c183, c186, c187, c188, c189, c190, c191, c192, c193, c194, c195, c196, c197, c198, c199, c200, c201, c202, c203, c206, c207, c208 FROM 
(SELECT c184, c185, c183, c186, c187, c188, c189, c190, c191, c192, c193, c194, c195, c196, c197, c198, c199, c200, c201, c202, c203, c206, c207, c208 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT "trace" AS c184, "node" AS c185, "type" AS c183, "seq" AS c186, "at" AS c187, "mail" AS c188, "version" AS c189, "replica_guid" AS c190, "store" AS c191, "backup" AS c192, "of" AS c193, "directory_object" AS c194, "revision" AS c195, "name" AS c196, "value" AS c197, "default" AS c198, "domain" AS c199, "policies" AS c200, "fault" AS c201, "kind" AS c202, "recipients" AS c203, "family" AS c182 FROM "silver/events") WHERE ((c182 IN ('run')) AND (c183 IN ('backup.elsewhere', 'backup.made', 'backup.restored', 'fault.altered', 'fault.healed', 'fault.injected', 'node.started', 'organization.changed', 'organization.read', 'recipient.policy', 'setting.value', 'store.created')))) LEFT JOIN 
(SELECT * FROM 
(SELECT "trace" AS c204, "node" AS c205, "gone" AS c206, "sent_until" AS c207, "undone_spans" AS c208 FROM "evidence/nodes")) ON ((c184 = c204) AND (c185 = c205))))))))) WHERE ((c181)."key" IS NOT NULL)))
UNION ALL SELECT c227 AS c5, c228 AS c16, c230 AS c17, c226 AS c10, c328 AS c18, c329 AS c19, c330 AS c20, c331 AS c21, c332 AS c22, c325 AS c23 FROM 
(SELECT c227, c228, c230, c226, c328, c329, c330, c331, c332, c325 FROM 
(SELECT c227, c228, c230, c226, c325, (c224)."fact" AS c328, (c224)."how" AS c329, (c224)."key" AS c330, (c224)."says" AS c331, ((((c224)."fact" IN ('request', 'recipient at a server', 'request that is sent', 'chosen source', 'status request', 'order to send again')) AND (NOT c325)) AND ((NOT c327) AND ((NOT ((c224)."fact" = 'recipient at a server')) OR coalesce((c230 <= c251), FALSE)))) AS c332 FROM 
(SELECT c227, c228, c230, c226, coalesce(list_any(list_transform(c252, lambda v326: ((c229 > (v326)."after") AND (c229 < (v326)."before")))), FALSE) AS c325, coalesce(c247, FALSE) AS c327, c251, c224 FROM 
(SELECT * EXCLUDE (uc224), uc224 AS c224 FROM (SELECT *, unnest(CASE WHEN (c226 = 'hop.deleted') THEN ([{'fact': 'copy in a queue', 'how': 'first', 'key': (c261 || ' ' || c257), 'says': concat_ws('', coalesce(c231, ''), '', '')}, {'fact': 'mail from another server', 'how': 'repeats', 'key': (c261 || ' ' || c260), 'says': concat_ws('', '')}] || flatten(list_transform(coalesce(CASE WHEN (coalesce(len(c234)::INTEGER, -1) = 0) THEN [['']] ELSE list_transform(c234, lambda v279: [v279]) END, CAST([] AS VARCHAR[][])), lambda v278: [{'fact': 'recipient of a mail', 'how': 'if known', 'key': (c231), 'says': concat_ws('', coalesce(list_item(v278, 0), ''))}, {'fact': 'recipient of a mail of people', 'how': 'if known', 'key': (c261 || ' ' || c262), 'says': concat_ws('', coalesce(list_item(v278, 0), ''))}])) || flatten(list_transform(coalesce(CASE WHEN ((c226 = 'mail.received') OR (c226 = 'mail.bad')) THEN [[c228]] ELSE CASE WHEN ((c231 LIKE 'notice.%' ESCAPE '\') OR coalesce((((c226 = 'hop.received') AND (NOT c244)) AND (c253 IS NULL)), FALSE)) THEN CAST(NULL AS VARCHAR[][]) ELSE list_transform(list_filter(c234, lambda v282: (v282 LIKE '%-IS@%' ESCAPE '\')), lambda v281: [regexp_replace(v281, '(-IS)?@[^\n\r\x{85}\x{2028}\x{2029}]*\z', '', 'g')]) END END, CAST([] AS VARCHAR[][])), lambda v280: [{'fact': 'recipient at a server', 'how': 'if known', 'key': (c231 || ' ' || c261), 'says': concat_ws('', coalesce(list_item(v280, 0), ''))}]))) WHEN (c226 = 'hop.dropped') THEN ([{'fact': 'mail', 'how': 'if known', 'key': (c231), 'says': concat_ws('', coalesce(c271, ''), '', '', '', '', '')}, {'fact': 'arrival of a mail', 'how': 'first', 'key': (c231 || ' ' || c261), 'says': concat_ws('', coalesce(CAST(NULL AS VARCHAR), ''), coalesce(c263, ''))}, {'fact': 'size of a mail', 'how': 'first', 'key': (c273), 'says': concat_ws('', coalesce(CAST(NULL AS VARCHAR), ''))}, {'fact': 'fault', 'how': 'repeats', 'key': (c232), 'says': concat_ws('', coalesce(CAST(NULL AS VARCHAR), ''))}] || flatten(list_transform(coalesce(CASE WHEN (coalesce(len(c234)::INTEGER, -1) = 0) THEN [['']] ELSE list_transform(c234, lambda v284: [v284]) END, CAST([] AS VARCHAR[][])), lambda v283: [{'fact': 'recipient of a mail', 'how': 'if known', 'key': (c231), 'says': concat_ws('', coalesce(list_item(v283, 0), ''))}]))) WHEN (c226 = 'hop.expired') THEN ([{'fact': 'copy in a queue', 'how': 'first', 'key': (c261 || ' ' || c257), 'says': concat_ws('', coalesce(c231, ''), '', '')}, {'fact': 'mail from another server', 'how': 'repeats', 'key': (c261 || ' ' || c260), 'says': concat_ws('', '')}] || flatten(list_transform(coalesce(CASE WHEN (coalesce(len(c234)::INTEGER, -1) = 0) THEN [['']] ELSE list_transform(c234, lambda v286: [v286]) END, CAST([] AS VARCHAR[][])), lambda v285: [{'fact': 'recipient of a mail', 'how': 'if known', 'key': (c231), 'says': concat_ws('', coalesce(list_item(v285, 0), ''))}, {'fact': 'recipient of a mail of people', 'how': 'if known', 'key': (c261 || ' ' || c262), 'says': concat_ws('', coalesce(list_item(v285, 0), ''))}])) || flatten(list_transform(coalesce(CASE WHEN ((c226 = 'mail.received') OR (c226 = 'mail.bad')) THEN [[c228]] ELSE CASE WHEN ((c231 LIKE 'notice.%' ESCAPE '\') OR coalesce((((c226 = 'hop.received') AND (NOT c244)) AND (c253 IS NULL)), FALSE)) THEN CAST(NULL AS VARCHAR[][]) ELSE list_transform(list_filter(c234, lambda v289: (v289 LIKE '%-IS@%' ESCAPE '\')), lambda v288: [regexp_replace(v288, '(-IS)?@[^\n\r\x{85}\x{2028}\x{2029}]*\z', '', 'g')]) END END, CAST([] AS VARCHAR[][])), lambda v287: [{'fact': 'recipient at a server', 'how': 'if known', 'key': (c231 || ' ' || c261), 'says': concat_ws('', coalesce(list_item(v287, 0), ''))}]))) WHEN (c226 = 'hop.failed') THEN ([{'fact': 'copy in a queue', 'how': 'first', 'key': (c261 || ' ' || c257), 'says': concat_ws('', coalesce(c231, ''), coalesce(c270, ''), coalesce(c269, ''))}, {'fact': 'recipient at a server', 'how': 'if known', 'key': (c231 || ' ' || c261), 'says': concat_ws('', coalesce(CAST(NULL AS VARCHAR), ''))}, {'fact': 'server', 'how': 'if known', 'key': (c233), 'says': concat_ws('', '')}, {'fact': 'connector', 'how': 'repeats', 'key': (c241), 'says': concat_ws('', '')}]) WHEN (c226 = 'hop.received') THEN ([{'fact': 'arrival of a mail', 'how': 'first', 'key': (c231 || ' ' || c261), 'says': concat_ws('', coalesce(c243, ''), coalesce(c263, ''))}, {'fact': 'size of a mail', 'how': 'first', 'key': (c273), 'says': concat_ws('', coalesce((c237)::VARCHAR, ''))}, {'fact': 'size of a mail', 'how': 'first', 'key': (c273), 'says': concat_ws('', coalesce(c272, ''))}, {'fact': 'size of a mail that was read', 'how': 'first', 'key': (c231 || ' ' || c261), 'says': concat_ws('', coalesce(c272, ''))}, {'fact': 'mail from another server', 'how': 'first', 'key': (c261 || ' ' || c260), 'says': concat_ws('', '')}] || flatten(list_transform(coalesce(CASE WHEN (coalesce(len(c234)::INTEGER, -1) = 0) THEN [['']] ELSE list_transform(c234, lambda v291: [v291]) END, CAST([] AS VARCHAR[][])), lambda v290: [{'fact': 'recipient of a mail', 'how': 'if known', 'key': (c231), 'says': concat_ws('', coalesce(list_item(v290, 0), ''))}, {'fact': 'recipient of a mail of people', 'how': 'first', 'key': (c261 || ' ' || c262), 'says': concat_ws('', coalesce(list_item(v290, 0), ''))}])) || flatten(list_transform(coalesce(CASE WHEN ((c226 = 'mail.received') OR (c226 = 'mail.bad')) THEN [[c228]] ELSE CASE WHEN ((c231 LIKE 'notice.%' ESCAPE '\') OR coalesce((((c226 = 'hop.received') AND (NOT c244)) AND (c253 IS NULL)), FALSE)) THEN CAST(NULL AS VARCHAR[][]) ELSE list_transform(list_filter(c234, lambda v294: (v294 LIKE '%-IS@%' ESCAPE '\')), lambda v293: [regexp_replace(v293, '(-IS)?@[^\n\r\x{85}\x{2028}\x{2029}]*\z', '', 'g')]) END END, CAST([] AS VARCHAR[][])), lambda v292: [{'fact': 'recipient at a server', 'how': 'first', 'key': (c231 || ' ' || c261), 'says': concat_ws('', coalesce(list_item(v292, 0), ''))}]))) WHEN (c226 = 'hop.sent') THEN ([{'fact': 'arrival of a mail', 'how': 'if known', 'key': (c231 || ' ' || c258), 'says': concat_ws('', coalesce(c261, ''), coalesce(c263, ''))}, {'fact': 'size of a mail', 'how': 'if known', 'key': (c273), 'says': concat_ws('', coalesce((c237)::VARCHAR, ''))}, {'fact': 'copy in a queue', 'how': 'first', 'key': (c261 || ' ' || c257), 'says': concat_ws('', coalesce(c231, ''), coalesce(c270, ''), coalesce(c269, ''))}, {'fact': 'connector', 'how': 'repeats', 'key': (c241), 'says': concat_ws('', '')}] || flatten(list_transform(coalesce(CASE WHEN (coalesce(len(c234)::INTEGER, -1) = 0) THEN [['']] ELSE list_transform(c234, lambda v296: [v296]) END, CAST([] AS VARCHAR[][])), lambda v295: [{'fact': 'recipient of a mail', 'how': 'if known', 'key': (c231), 'says': concat_ws('', coalesce(list_item(v295, 0), ''))}])) || flatten(list_transform(coalesce(CASE WHEN ((c226 = 'mail.received') OR (c226 = 'mail.bad')) THEN [[c228]] ELSE CASE WHEN ((c231 LIKE 'notice.%' ESCAPE '\') OR coalesce((((c226 = 'hop.received') AND (NOT c244)) AND (c253 IS NULL)), FALSE)) THEN CAST(NULL AS VARCHAR[][]) ELSE list_transform(list_filter(c234, lambda v299: (v299 LIKE '%-IS@%' ESCAPE '\')), lambda v298: [regexp_replace(v298, '(-IS)?@[^\n\r\x{85}\x{2028}\x{2029}]*\z', '', 'g')]) END END, CAST([] AS VARCHAR[][])), lambda v297: [{'fact': 'recipient at a server', 'how': 'if known', 'key': (c231 || ' ' || c261), 'says': concat_ws('', coalesce(list_item(v297, 0), ''))}]))) WHEN (c226 = 'link.down') THEN ([{'fact': 'connector', 'how': 'repeats', 'key': (c241), 'says': concat_ws('', '')}]) WHEN (c226 = 'link.up') THEN ([{'fact': 'connector', 'how': 'repeats', 'key': (c241), 'says': concat_ws('', '')}]) WHEN (c226 = 'mail.bad') THEN ([{'fact': 'mail', 'how': 'if known', 'key': (c231), 'says': concat_ws('', coalesce(c271, ''), '', '', '', '', '')}, {'fact': 'size of a mail that was read', 'how': 'repeats', 'key': (c231 || ' ' || c261), 'says': concat_ws('', coalesce((c237)::VARCHAR, ''))}] || flatten(list_transform(coalesce(CASE WHEN ((c226 = 'mail.received') OR (c226 = 'mail.bad')) THEN [[c228]] ELSE CASE WHEN ((c231 LIKE 'notice.%' ESCAPE '\') OR coalesce((((c226 = 'hop.received') AND (NOT c244)) AND (c253 IS NULL)), FALSE)) THEN CAST(NULL AS VARCHAR[][]) ELSE list_transform(list_filter(c234, lambda v302: (v302 LIKE '%-IS@%' ESCAPE '\')), lambda v301: [regexp_replace(v301, '(-IS)?@[^\n\r\x{85}\x{2028}\x{2029}]*\z', '', 'g')]) END END, CAST([] AS VARCHAR[][])), lambda v300: [{'fact': 'recipient at a server', 'how': 'if known', 'key': (c231 || ' ' || c261), 'says': concat_ws('', coalesce(list_item(v300, 0), ''))}]))) WHEN (c226 = 'mail.not_posted') THEN ([{'fact': 'mail from another server', 'how': 'repeats', 'key': (c261 || ' ' || c260), 'says': concat_ws('', '')}, {'fact': 'mail to a folder', 'how': 'first', 'key': (c231), 'says': concat_ws('', coalesce(c240, ''))}]) WHEN (c226 = 'mail.posted') THEN ([{'fact': 'mail from another server', 'how': 'repeats', 'key': (c261 || ' ' || c260), 'says': concat_ws('', '')}, {'fact': 'mail to a folder', 'how': 'first', 'key': (c231), 'says': concat_ws('', coalesce(c240, ''))}]) WHEN (c226 = 'mail.received') THEN ([{'fact': 'mail', 'how': 'repeats', 'key': (c231), 'says': concat_ws('', coalesce(c240, ''), coalesce((c235)::VARCHAR, ''), coalesce(c236, ''), coalesce(c238, ''), coalesce(to_json(c239)::VARCHAR, ''), coalesce(CAST(NULL AS VARCHAR), ''))}, {'fact': 'size of a mail that was read', 'how': 'repeats', 'key': (c231 || ' ' || c261), 'says': concat_ws('', coalesce((c237)::VARCHAR, ''))}, {'fact': 'arrived mail', 'how': 'first', 'key': (c231 || ' ' || c261), 'says': concat_ws('', '')}, {'fact': 'reader of a mail', 'how': 'first', 'key': (c261 || ' ' || (c229)::VARCHAR), 'says': concat_ws('', coalesce(c261, ''))}, {'fact': 'reader of a mail', 'how': 'repeats', 'key': (c261 || ' ' || (c229)::VARCHAR), 'says': concat_ws('', coalesce(c263, ''))}, {'fact': 'mail from a store', 'how': 'first', 'key': (c261 || ' ' || (c230)::VARCHAR || ' ' || c240), 'says': concat_ws('', '')}] || flatten(list_transform(coalesce(CASE WHEN ((c226 = 'mail.received') OR (c226 = 'mail.bad')) THEN [[c228]] ELSE CASE WHEN ((c231 LIKE 'notice.%' ESCAPE '\') OR coalesce((((c226 = 'hop.received') AND (NOT c244)) AND (c253 IS NULL)), FALSE)) THEN CAST(NULL AS VARCHAR[][]) ELSE list_transform(list_filter(c234, lambda v305: (v305 LIKE '%-IS@%' ESCAPE '\')), lambda v304: [regexp_replace(v304, '(-IS)?@[^\n\r\x{85}\x{2028}\x{2029}]*\z', '', 'g')]) END END, CAST([] AS VARCHAR[][])), lambda v303: [{'fact': 'recipient at a server', 'how': 'if known', 'key': (c231 || ' ' || c261), 'says': concat_ws('', coalesce(list_item(v303, 0), ''))}])) || flatten(list_transform(coalesce(CASE WHEN (c226 LIKE 'mail.%' ESCAPE '\') THEN list_transform(c254, lambda v307: [(v307)."folder", (v307)."cnset", (v307)."cnset_fai", CASE WHEN ((v307)."cnset_fai" = '') THEN (v307)."cnset" ELSE CASE WHEN ((v307)."cnset" = '') THEN (v307)."cnset_fai" ELSE CAST(NULL AS VARCHAR) END END]) ELSE list_transform(list_filter(list_from_json(CASE WHEN (c236 = '[]') THEN '[""]' ELSE c236 END, '"VARCHAR[]"'), lambda v309: (NOT (v309 = '1-1'))), lambda v308: [v308]) END, CAST([] AS VARCHAR[][])), lambda v306: [{'fact': 'mail that is read', 'how': 'first', 'key': (c261 || ' ' || (c230)::VARCHAR), 'says': concat_ws('', coalesce(list_item(v306, 0), ''), coalesce(c277, ''))}, {'fact': 'request that arrived', 'how': 'first', 'key': (c261 || ' ' || c265), 'says': concat_ws('', coalesce(c240, ''), coalesce(list_item(v306, 0), ''))}]))) WHEN (c226 = 'mail.submitted') THEN ([{'fact': 'mail', 'how': 'first', 'key': (c231), 'says': concat_ws('', coalesce(c261, ''), coalesce((c235)::VARCHAR, ''), coalesce(c236, ''), coalesce(c238, ''), coalesce(to_json(c239)::VARCHAR, ''), coalesce((c230)::VARCHAR, ''))}, {'fact': 'mail', 'how': 'repeats', 'key': (c231), 'says': concat_ws('', coalesce(CAST(NULL AS VARCHAR), ''), coalesce(CAST(NULL AS VARCHAR), ''), coalesce(CAST(NULL AS VARCHAR), ''), coalesce(c259, ''), '', '')}, {'fact': 'size of a mail', 'how': 'first', 'key': (c273), 'says': concat_ws('', coalesce((c237)::VARCHAR, ''))}, {'fact': 'request mail', 'how': 'first', 'key': (c231), 'says': concat_ws('', coalesce(CAST(NULL AS VARCHAR), ''), coalesce(c261, ''))}] || flatten(list_transform(coalesce(CASE WHEN (coalesce(len(c234)::INTEGER, -1) = 0) THEN [['']] ELSE list_transform(c234, lambda v311: [v311]) END, CAST([] AS VARCHAR[][])), lambda v310: [{'fact': 'recipient of a mail', 'how': 'first', 'key': (c231), 'says': concat_ws('', coalesce(list_item(v310, 0), ''))}])) || flatten(list_transform(coalesce(CASE WHEN ((c226 = 'mail.received') OR (c226 = 'mail.bad')) THEN [[c228]] ELSE CASE WHEN ((c231 LIKE 'notice.%' ESCAPE '\') OR coalesce((((c226 = 'hop.received') AND (NOT c244)) AND (c253 IS NULL)), FALSE)) THEN CAST(NULL AS VARCHAR[][]) ELSE list_transform(list_filter(c234, lambda v314: (v314 LIKE '%-IS@%' ESCAPE '\')), lambda v313: [regexp_replace(v313, '(-IS)?@[^\n\r\x{85}\x{2028}\x{2029}]*\z', '', 'g')]) END END, CAST([] AS VARCHAR[][])), lambda v312: [{'fact': 'recipient at a server', 'how': 'first', 'key': (c231 || ' ' || c261), 'says': concat_ws('', coalesce(list_item(v312, 0), ''))}])) || flatten(list_transform(coalesce(CASE WHEN (c226 LIKE 'mail.%' ESCAPE '\') THEN list_transform(c254, lambda v316: [(v316)."folder", (v316)."cnset", (v316)."cnset_fai", CASE WHEN ((v316)."cnset_fai" = '') THEN (v316)."cnset" ELSE CASE WHEN ((v316)."cnset" = '') THEN (v316)."cnset_fai" ELSE CAST(NULL AS VARCHAR) END END]) ELSE list_transform(list_filter(list_from_json(CASE WHEN (c236 = '[]') THEN '[""]' ELSE c236 END, '"VARCHAR[]"'), lambda v318: (NOT (v318 = '1-1'))), lambda v317: [v317]) END, CAST([] AS VARCHAR[][])), lambda v315: [{'fact': 'request that is sent', 'how': 'first', 'key': (c261 || ' ' || c264 || ' ' || list_item(v315, 0) || ' ' || c275), 'says': concat_ws('', coalesce(c275, ''), coalesce(list_item(v315, 1), ''), coalesce(list_item(v315, 2), ''))}, {'fact': 'response', 'how': 'first', 'key': (c261 || ' ' || c268 || ' ' || list_item(v315, 0) || ' ' || c275), 'says': concat_ws('', coalesce(list_item(v315, 3), ''))}, {'fact': 'status request', 'how': 'first', 'key': (c261 || ' ' || c267 || ' ' || list_item(v315, 0)), 'says': concat_ws('', coalesce(c276, ''))}, {'fact': 'choice of responders', 'how': 'repeats', 'key': (c261 || ' ' || c267 || ' ' || list_item(v315, 0)), 'says': concat_ws('', '')}])) || flatten(list_transform(coalesce(CASE WHEN ((c226 = 'mail.submitted') AND (c235 = (32)::BIGINT)) THEN list_flattened(list_transform(c254, lambda v320: list_transform(c255, lambda v321: [(v320)."folder", v321]))) ELSE CAST(NULL AS VARCHAR[][]) END, CAST([] AS VARCHAR[][])), lambda v319: [{'fact': 'responder', 'how': 'first', 'key': (c261 || ' ' || c274 || ' ' || list_item(v319, 0)), 'says': concat_ws('', coalesce(list_item(v319, 1), ''))}])) || flatten(list_transform(coalesce(CASE WHEN (c226 = 'mail.submitted') THEN list_flattened(list_transform(c254, lambda v323: list_transform(c255, lambda v324: [(v323)."folder", v324]))) ELSE CAST(NULL AS VARCHAR[][]) END, CAST([] AS VARCHAR[][])), lambda v322: [{'fact': 'order to send again', 'how': 'repeats', 'key': (c261 || ' ' || c266 || ' ' || list_item(v322, 0)), 'says': concat_ws('', coalesce(list_item(v322, 1), ''))}]))) WHEN (c226 = 'mailbox.delivered') THEN ([{'fact': 'mail from another server', 'how': 'repeats', 'key': (c261 || ' ' || c260), 'says': concat_ws('', '')}]) WHEN (c226 = 'queue.frozen') THEN ([{'fact': 'copy in a queue', 'how': 'first', 'key': (c261 || ' ' || c257), 'says': concat_ws('', coalesce(c231, ''), '', '')}]) WHEN (c226 = 'queue.unfrozen') THEN ([{'fact': 'copy in a queue', 'how': 'first', 'key': (c261 || ' ' || c257), 'says': concat_ws('', coalesce(c231, ''), '', '')}]) END) AS uc224 FROM 
(SELECT c227, c228, c226, c229, c230, c231, c232, c233, c234, c235, c236, c237, c238, c239, c240, c241, c243, c244, c247, c251, c252, c253, c254, c255, CASE WHEN (c226 IN ('hop.deleted', 'hop.expired', 'hop.failed', 'hop.sent', 'queue.frozen', 'queue.unfrozen')) THEN (CASE WHEN (c242 = text_to_bigint('0')) THEN CAST(NULL AS BIGINT) ELSE c242 END)::VARCHAR END AS c257, CASE WHEN (c226 IN ('hop.sent')) THEN CASE WHEN list_contains_or_null(c250, c241) THEN CAST(NULL AS VARCHAR) ELSE c233 END END AS c258, CASE WHEN (c226 IN ('mail.submitted')) THEN split_part(c231, '.', 1) END AS c259, CASE WHEN (c226 IN ('hop.deleted', 'hop.expired', 'hop.received', 'mail.not_posted', 'mail.posted', 'mailbox.delivered')) THEN CASE WHEN (c231 LIKE ('%@' || c228 || '.%') ESCAPE '\') THEN CAST(NULL AS VARCHAR) ELSE c231 END END AS c260, CASE WHEN (c226 IN ('hop.deleted', 'hop.dropped', 'hop.expired', 'hop.failed', 'hop.received', 'hop.sent', 'mail.bad', 'mail.not_posted', 'mail.posted', 'mail.received', 'mail.submitted', 'mailbox.delivered', 'queue.frozen', 'queue.unfrozen')) THEN c228 END AS c261, CASE WHEN (c226 IN ('hop.deleted', 'hop.expired', 'hop.received')) THEN CASE WHEN ((c231 LIKE ('%@' || c228 || '.%') ESCAPE '\') OR (c253 IS NOT NULL)) THEN CAST(NULL AS VARCHAR) ELSE c231 END END AS c262, CASE WHEN (c226 IN ('hop.dropped', 'hop.received', 'hop.sent', 'mail.received')) THEN list_text(list_sort(c234, 'ASC', 'NULLS LAST'), ' ') END AS c263, CASE WHEN (c226 IN ('mail.submitted')) THEN (CASE WHEN (c235 = (8)::BIGINT) THEN c230 ELSE CAST(NULL AS BIGINT) END)::VARCHAR END AS c264, CASE WHEN (c226 IN ('mail.received')) THEN CASE WHEN (c235 = (8)::BIGINT) THEN c231 ELSE CAST(NULL AS VARCHAR) END END AS c265, CASE WHEN (c226 IN ('mail.submitted')) THEN (CASE WHEN list_contains_or_null(coalesce(c239, CAST([] AS VARCHAR[])), 'resent') THEN c230 ELSE CAST(NULL AS BIGINT) END)::VARCHAR END AS c266, CASE WHEN (c226 IN ('mail.submitted')) THEN (CASE WHEN ((c235 = (32)::BIGINT) AND (NOT list_overlaps(coalesce(c239, CAST([] AS VARCHAR[])), ['repeat', 'delete-pending']))) THEN c230 ELSE CAST(NULL AS BIGINT) END)::VARCHAR END AS c267, CASE WHEN (c226 IN ('mail.submitted')) THEN (CASE WHEN (c235 IN (2147483650::BIGINT, 2147483652::BIGINT)) THEN c230 ELSE CAST(NULL AS BIGINT) END)::VARCHAR END AS c268, CASE WHEN (c226 IN ('hop.failed', 'hop.sent')) THEN CASE WHEN (c248 OR (c233 = '')) THEN CAST(NULL AS VARCHAR) ELSE c241 END END AS c269, CASE WHEN (c226 IN ('hop.failed', 'hop.sent')) THEN CASE WHEN (c248 OR (c233 = '')) THEN CAST(NULL AS VARCHAR) ELSE c233 END END AS c270, CASE WHEN (c226 IN ('hop.dropped', 'mail.bad')) THEN regexp_replace(c240, '(-IS)?@[^\n\r\x{85}\x{2028}\x{2029}]*\z', '', 'g') END AS c271, CASE WHEN (c226 IN ('hop.received')) THEN (add_wrapped(add_wrapped(add_wrapped(c237, (length(c228)::INTEGER)::BIGINT), (length(coalesce(c243, c233))::INTEGER)::BIGINT), (65)::BIGINT))::VARCHAR END AS c272, CASE WHEN (c226 IN ('hop.dropped', 'hop.received', 'hop.sent', 'mail.submitted')) THEN CASE WHEN (c249 OR list_contains_or_null(c250, c241)) THEN CAST(NULL AS VARCHAR) ELSE c253 END END AS c273, CASE WHEN (c226 IN ('mail.submitted')) THEN (CASE WHEN (c235 = (32)::BIGINT) THEN c230 ELSE CAST(NULL AS BIGINT) END)::VARCHAR END AS c274, CASE WHEN (c226 IN ('mail.submitted')) THEN list_item(c255, 0) END AS c275, CASE WHEN (c226 IN ('mail.submitted')) THEN list_text(list_sort(c255, 'ASC', 'NULLS LAST'), ' ') END AS c276, CASE WHEN (c226 IN ('mail.received')) THEN CASE WHEN (c235 IN ((2)::BIGINT, (4)::BIGINT)) THEN 'broadcast' WHEN (c235 IN (2147483650::BIGINT, 2147483652::BIGINT)) THEN 'backfill' END END AS c277 FROM 
(SELECT c227, c228, c226, c229, c230, c231, c232, c233, c234, c235, c236, c237, c238, c239, c240, c241, c242, c243, c244, c247, c248, c249, c250, c251, c252, CASE WHEN regexp_matches(c231, '^[0-9]+[.][0-9a-f]{12}@') THEN c231 ELSE CAST(NULL AS VARCHAR) END AS c253, list_from_json(CASE WHEN (c226 LIKE 'mail.%' ESCAPE '\') THEN c236 ELSE CAST(NULL AS VARCHAR) END, '"STRUCT(\"folder\" VARCHAR, \"cnset\" VARCHAR, \"cnset_fai\" VARCHAR)[]"') AS c254, list_transform(c234, lambda v256: regexp_replace(v256, '(-IS)?@[^\n\r\x{85}\x{2028}\x{2029}]*\z', '', 'g')) AS c255 FROM 
(SELECT c227, c228, c226, c229, c230, c231, c232, c233, c234, c235, c236, c237, c238, c239, c240, c241, c242, c243, c244, c247, c248, c249, c250, c251, c252 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT "trace" AS c227, "node" AS c228, "type" AS c226, "seq" AS c229, "at" AS c230, "mail" AS c231, "fault" AS c232, "next_hop" AS c233, "recipients" AS c234, "message_type" AS c235, "folders" AS c236, "size" AS c237, "number" AS c238, "marks" AS c239, "sender" AS c240, "connector" AS c241, "queue_id" AS c242, "peer" AS c243, "authenticated" AS c244, "family" AS c225 FROM "silver/events") WHERE ((c225 IN ('mail')) AND (c226 IN ('hop.deleted', 'hop.dropped', 'hop.expired', 'hop.failed', 'hop.received', 'hop.sent', 'link.down', 'link.up', 'mail.bad', 'mail.not_posted', 'mail.posted', 'mail.received', 'mail.submitted', 'mailbox.delivered', 'queue.frozen', 'queue.unfrozen')))) LEFT JOIN 
(SELECT * FROM 
(SELECT "trace" AS c245, "node" AS c246, "gone" AS c247, "rerouted" AS c248, "altered" AS c249, "relays" AS c250, "sent_until" AS c251, "undone_spans" AS c252 FROM "evidence/nodes")) ON ((c227 = c245) AND (c228 = c246))))))))) WHERE ((c224)."key" IS NOT NULL)))
UNION ALL SELECT c336 AS c5, c337 AS c16, c339 AS c17, c335 AS c10, c383 AS c18, c384 AS c19, c385 AS c20, c386 AS c21, c387 AS c22, c380 AS c23 FROM 
(SELECT c336, c337, c339, c335, c383, c384, c385, c386, c387, c380 FROM 
(SELECT c336, c337, c339, c335, c380, (c333)."fact" AS c383, (c333)."how" AS c384, (c333)."key" AS c385, (c333)."says" AS c386, ((((c333)."fact" IN ('request', 'recipient at a server', 'request that is sent', 'chosen source', 'status request', 'order to send again')) AND (NOT c380)) AND ((NOT c382) AND ((NOT ((c333)."fact" = 'recipient at a server')) OR coalesce((c339 <= c359), FALSE)))) AS c387 FROM 
(SELECT c336, c337, c339, c335, coalesce(list_any(list_transform(c360, lambda v381: ((c338 > (v381)."after") AND (c338 < (v381)."before")))), FALSE) AS c380, coalesce(c358, FALSE) AS c382, c359, c333 FROM 
(SELECT * EXCLUDE (uc333), uc333 AS c333 FROM (SELECT *, unnest(CASE WHEN (c335 = 'change.made') THEN ([{'fact': 'version', 'how': 'first', 'key': (c361), 'says': concat_ws('', coalesce(c343, ''), coalesce(c342, ''), coalesce(c340, ''), coalesce(c365, ''), coalesce((c345)::VARCHAR, ''), coalesce(c348, ''), coalesce(c363, ''))}, {'fact': 'folder', 'how': 'first', 'key': (c364), 'says': concat_ws('', '')}] || flatten(list_transform(coalesce(list_transform(c349, lambda v371: [v371]), CAST([] AS VARCHAR[][])), lambda v370: [{'fact': 'holder', 'how': 'first', 'key': (c343 || ' ' || list_item(v370, 0)), 'says': concat_ws('', '')}])) || flatten(list_transform(coalesce(list_transform(c346, lambda v373: [v373]), CAST([] AS VARCHAR[][])), lambda v372: [{'fact': 'version', 'how': 'repeats', 'key': (list_item(v372, 0)), 'says': concat_ws('', coalesce(c343, ''), coalesce(c342, ''), '', '', '', '', '')}])) || flatten(list_transform(coalesce(list_transform(c350, lambda v375: [v375]), CAST([] AS VARCHAR[][])), lambda v374: [{'fact': 'version', 'how': 'repeats', 'key': (list_item(v374, 0)), 'says': concat_ws('', coalesce(c343, ''), coalesce(c342, ''), '', '', '', '', '')}]))) WHEN (c335 = 'conflict.aged') THEN ([{'fact': 'version', 'how': 'repeats', 'key': (c354), 'says': concat_ws('', coalesce(c343, ''), coalesce(c342, ''), '', '', '', '', '')}, {'fact': 'version', 'how': 'repeats', 'key': (c361), 'says': concat_ws('', coalesce(c343, ''), coalesce(c342, ''), '', '', '', '', '')}]) WHEN (c335 = 'conflict.arose') THEN ([{'fact': 'version', 'how': 'repeats', 'key': (c354), 'says': concat_ws('', coalesce(c343, ''), coalesce(c342, ''), '', '', '', '', '')}, {'fact': 'conflicting versions', 'how': 'first', 'key': (c367 || ' ' || c343), 'says': concat_ws('', coalesce(c368, ''))}] || flatten(list_transform(coalesce(CASE WHEN (coalesce(len(c355)::INTEGER, -1) = 0) THEN [['']] ELSE list_transform(c355, lambda v377: [v377]) END, CAST([] AS VARCHAR[][])), lambda v376: [{'fact': 'version', 'how': 'repeats', 'key': (list_item(v376, 0)), 'says': concat_ws('', coalesce(c343, ''), coalesce(c342, ''), '', '', '', '', '')}]))) WHEN (c335 = 'conflict.ended') THEN ([{'fact': 'version', 'how': 'repeats', 'key': (c361), 'says': concat_ws('', coalesce(c343, ''), coalesce(c342, ''), '', '', '', '', '')}]) WHEN (c335 = 'conflict.notice') THEN ([{'fact': 'conflicting versions', 'how': 'if known', 'key': (c367 || ' ' || c362), 'says': concat_ws('', coalesce(c368, ''))}] || flatten(list_transform(coalesce(CASE WHEN (coalesce(len(c355)::INTEGER, -1) = 0) THEN [['']] ELSE list_transform(c355, lambda v379: [v379]) END, CAST([] AS VARCHAR[][])), lambda v378: [{'fact': 'version', 'how': 'repeats', 'key': (list_item(v378, 0)), 'says': concat_ws('', coalesce(c343, ''), coalesce(c342, ''), '', '', '', '', '')}]))) WHEN (c335 = 'item.expired') THEN ([{'fact': 'version', 'how': 'repeats', 'key': (c361), 'says': concat_ws('', coalesce(c343, ''), coalesce(c342, ''), coalesce(CAST(NULL AS VARCHAR), ''), coalesce(CAST(NULL AS VARCHAR), ''), coalesce((c345)::VARCHAR, ''), coalesce(CAST(NULL AS VARCHAR), ''), coalesce(c366, ''))}, {'fact': 'age limit', 'how': 'first', 'key': (c367 || ' ' || c342), 'says': concat_ws('', coalesce((c351)::VARCHAR, ''))}]) WHEN (c335 = 'item.recovered') THEN ([{'fact': 'version', 'how': 'repeats', 'key': (c361), 'says': concat_ws('', coalesce(c343, ''), coalesce(c342, ''), '', '', '', '', '')}]) WHEN (c335 = 'tombstone.dropped') THEN ([{'fact': 'version', 'how': 'repeats', 'key': (c361), 'says': concat_ws('', coalesce(c343, ''), coalesce(c342, ''), coalesce(CAST(NULL AS VARCHAR), ''), coalesce(CAST(NULL AS VARCHAR), ''), coalesce(CAST(NULL AS VARCHAR), ''), coalesce(CAST(NULL AS VARCHAR), ''), coalesce(c369, ''))}]) WHEN (c335 = 'tombstone.made') THEN ([{'fact': 'version', 'how': 'repeats', 'key': (c361), 'says': concat_ws('', coalesce(c343, ''), coalesce(c342, ''), coalesce(CAST(NULL AS VARCHAR), ''), coalesce(CAST(NULL AS VARCHAR), ''), coalesce(CAST(NULL AS VARCHAR), ''), coalesce(CAST(NULL AS VARCHAR), ''), coalesce(c369, ''))}]) WHEN (c335 = 'version.dropped') THEN ([{'fact': 'version', 'how': 'repeats', 'key': (c361), 'says': concat_ws('', coalesce(c343, ''), coalesce(c342, ''), coalesce(c340, ''), coalesce(c365, ''), coalesce((c345)::VARCHAR, ''), coalesce(c348, ''), coalesce(c363, ''))}]) WHEN (c335 = 'version.held') THEN ([{'fact': 'version', 'how': 'repeats', 'key': (c361), 'says': concat_ws('', coalesce(c343, ''), coalesce(c342, ''), coalesce(c340, ''), coalesce(c365, ''), coalesce((c345)::VARCHAR, ''), coalesce(c348, ''), coalesce(c363, ''))}, {'fact': 'folder', 'how': 'if known', 'key': (c353), 'says': concat_ws('', '')}]) WHEN (c335 = 'version.ignored') THEN ([{'fact': 'version', 'how': 'repeats', 'key': (c361), 'says': concat_ws('', coalesce(c343, ''), coalesce(c342, ''), coalesce(c340, ''), coalesce(c365, ''), coalesce((c345)::VARCHAR, ''), coalesce(c348, ''), coalesce(c363, ''))}]) END) AS uc333 FROM 
(SELECT c336, c337, c335, c338, c339, c340, c342, c343, c345, c346, c348, c349, c350, c351, c353, c354, c355, c358, c359, c360, CASE WHEN (c335 IN ('change.made', 'conflict.aged', 'conflict.ended', 'item.expired', 'item.recovered', 'tombstone.dropped', 'tombstone.made', 'version.dropped', 'version.held', 'version.ignored')) THEN trim(c341, '"') END AS c361, CASE WHEN (c335 IN ('conflict.notice')) THEN CASE WHEN (coalesce(len(c355)::INTEGER, -1) > 1) THEN c343 ELSE CAST(NULL AS VARCHAR) END END AS c362, CASE WHEN (c335 IN ('change.made', 'version.dropped', 'version.held', 'version.ignored')) THEN coalesce((c352)::VARCHAR, CASE WHEN (c344 = 'delete') THEN 'true' ELSE 'false' END) END AS c363, CASE WHEN (c335 IN ('change.made')) THEN CASE WHEN (c342 = '1-1') THEN c343 ELSE CAST(NULL AS VARCHAR) END END AS c364, CASE WHEN (c335 IN ('change.made', 'version.dropped', 'version.held', 'version.ignored')) THEN CASE WHEN (c352 OR (c344 = 'delete')) THEN CAST(NULL AS VARCHAR) ELSE c347 END END AS c365, CASE WHEN (c335 IN ('item.expired')) THEN CASE WHEN (c335 IS NULL) THEN CAST(NULL AS VARCHAR) ELSE 'false' END END AS c366, CASE WHEN (c335 IN ('conflict.arose', 'conflict.notice', 'item.expired')) THEN c337 END AS c367, CASE WHEN (c335 IN ('conflict.arose', 'conflict.notice')) THEN list_text(list_sort(c355, 'ASC', 'NULLS LAST'), ' ') END AS c368, CASE WHEN (c335 IN ('tombstone.dropped', 'tombstone.made')) THEN CASE WHEN (c335 IS NULL) THEN CAST(NULL AS VARCHAR) ELSE 'true' END END AS c369 FROM 
(SELECT c336, c337, c335, c338, c339, c340, c341, c342, c343, c344, c345, c346, c347, c348, c349, c350, c351, c352, c353, c354, c355, c358, c359, c360 FROM 
(SELECT c336, c337, c335, c338, c339, c340, c341, c342, c343, c344, c345, c346, c347, c348, c349, c350, c351, c352, c353, c354, c355, c358, c359, c360 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT "trace" AS c336, "node" AS c337, "type" AS c335, "seq" AS c338, "at" AS c339, "kind" AS c340, "number" AS c341, "folder" AS c342, "object" AS c343, "operation" AS c344, "modified_at" AS c345, "supersedes" AS c346, "pcl" AS c347, "digest" AS c348, "replicas" AS c349, "rivals" AS c350, "limit_us" AS c351, "deleted" AS c352, "waits_for" AS c353, "winner" AS c354, "versions" AS c355, "family" AS c334 FROM "silver/events") WHERE ((c334 IN ('change')) AND (c335 IN ('change.made', 'conflict.aged', 'conflict.arose', 'conflict.ended', 'conflict.notice', 'item.expired', 'item.recovered', 'tombstone.dropped', 'tombstone.made', 'version.dropped', 'version.held', 'version.ignored')))) LEFT JOIN 
(SELECT * FROM 
(SELECT "trace" AS c356, "node" AS c357, "gone" AS c358, "sent_until" AS c359, "undone_spans" AS c360 FROM "evidence/nodes")) ON ((c336 = c356) AND (c337 = c357))))))))) WHERE ((c333)."key" IS NOT NULL)))
UNION ALL SELECT c391 AS c5, c392 AS c16, c394 AS c17, c390 AS c10, c510 AS c18, c511 AS c19, c512 AS c20, c513 AS c21, c514 AS c22, c507 AS c23 FROM 
(SELECT c391, c392, c394, c390, c510, c511, c512, c513, c514, c507 FROM 
(SELECT c391, c392, c394, c390, c507, (c388)."fact" AS c510, (c388)."how" AS c511, (c388)."key" AS c512, (c388)."says" AS c513, ((((c388)."fact" IN ('request', 'recipient at a server', 'request that is sent', 'chosen source', 'status request', 'order to send again')) AND (NOT c507)) AND ((NOT c509) AND ((NOT ((c388)."fact" = 'recipient at a server')) OR coalesce((c394 <= c417), FALSE)))) AS c514 FROM 
(SELECT c391, c392, c394, c390, coalesce(list_any(list_transform(c418, lambda v508: ((c393 > (v508)."after") AND (c393 < (v508)."before")))), FALSE) AS c507, coalesce(c416, FALSE) AS c509, c417, c388 FROM 
(SELECT * EXCLUDE (uc388), uc388 AS c388 FROM (SELECT *, unnest(CASE WHEN (c390 = 'address.lacking') THEN (flatten(list_transform(coalesce(CASE WHEN (c390 LIKE 'mail.%' ESCAPE '\') THEN list_transform(c419, lambda v430: [(v430)."folder", (v430)."cnset", (v430)."cnset_fai", CASE WHEN ((v430)."cnset_fai" = '') THEN (v430)."cnset" ELSE CASE WHEN ((v430)."cnset" = '') THEN (v430)."cnset_fai" ELSE CAST(NULL AS VARCHAR) END END]) ELSE list_transform(list_filter(list_from_json(CASE WHEN (c399 = '[]') THEN '[""]' ELSE c399 END, '"VARCHAR[]"'), lambda v432: (NOT (v432 = '1-1'))), lambda v431: [v431]) END, CAST([] AS VARCHAR[][])), lambda v429: [{'fact': 'folder', 'how': 'repeats', 'key': (list_item(v429, 0)), 'says': concat_ws('', '')}])) || flatten(list_transform(coalesce(CASE WHEN (coalesce(len(c412)::INTEGER, -1) = 0) THEN [['']] ELSE list_transform(c412, lambda v434: [v434]) END, CAST([] AS VARCHAR[][])), lambda v433: [{'fact': 'entry without an address', 'how': 'repeats', 'key': (c427 || ' ' || list_item(v433, 0)), 'says': concat_ws('', '')}]))) WHEN (c390 = 'address.missing') THEN ([{'fact': 'entry without an address', 'how': 'first', 'key': (c427 || ' ' || c397), 'says': concat_ws('', '')}, {'fact': 'server', 'how': 'repeats', 'key': (c397), 'says': concat_ws('', '')}]) WHEN (c390 = 'address.stamped') THEN ([{'fact': 'address', 'how': 'first', 'key': (c397), 'says': concat_ws('', coalesce(c421, ''))}, {'fact': 'mail domain', 'how': 'repeats', 'key': (c420), 'says': concat_ws('', '')}, {'fact': 'server', 'how': 'repeats', 'key': (c397), 'says': concat_ws('', '')}]) WHEN (c390 = 'changes.resent') THEN (flatten(list_transform(coalesce(CASE WHEN (c390 = 'changes.resent') THEN list_transform(c412, lambda v436: [v436]) ELSE CAST(NULL AS VARCHAR[][]) END, CAST([] AS VARCHAR[][])), lambda v435: [{'fact': 'order to send again', 'how': 'first', 'key': (c427 || ' ' || c426 || ' ' || c400), 'says': concat_ws('', coalesce(list_item(v435, 0), ''))}]))) WHEN (c390 = 'entry.made') THEN ([{'fact': 'entry', 'how': 'first', 'key': (c427 || ' ' || (c405)::VARCHAR), 'says': concat_ws('', coalesce(c400, ''))}] || flatten(list_transform(coalesce(CASE WHEN (c390 IN ('mail.submitted', 'mail.received', 'row.replaced', 'replica.dropped')) THEN CAST(NULL AS VARCHAR[][]) ELSE list_item(list_transform([list_flattened(list_transform(list_filter(str_split(c401, ';'), lambda v440: (NOT (v440 = ''))), lambda v439: list_transform(str_split(split_part(v439, ':', 2), ','), lambda v441: {'guid': split_part(v439, ':', 1), 'low': text_to_bigint(split_part(v441, '-', 1)), 'high': text_to_bigint(split_part(v441, '-', (-1)))})))], lambda v438: CASE WHEN (list_reduce(v438, lambda v442, v443: ((v442 + abs((((v443)."high")::DOUBLE - ((v443)."low")::DOUBLE))) + (1)::DOUBLE), CAST(0.0::DOUBLE AS DOUBLE)) > (500)::DOUBLE) THEN [[CAST(NULL AS VARCHAR)]] ELSE list_flattened(list_transform(v438, lambda v445: list_transform(number_series((v445)."low", (v445)."high"), lambda v446: [((v445)."guid" || ':' || (v446)::VARCHAR)]))) END), 0) END, CAST([] AS VARCHAR[][])), lambda v437: [{'fact': 'numbers of an entry', 'how': 'first', 'key': (c427 || ' ' || (c405)::VARCHAR), 'says': concat_ws('', coalesce(list_item(v437, 0), ''))}, {'fact': 'version', 'how': 'if known', 'key': (list_item(v437, 0)), 'says': concat_ws('', '', '', '', '', '', '', '')}]))) WHEN (c390 = 'entry.pruned') THEN ([{'fact': 'entry', 'how': 'repeats', 'key': (c427 || ' ' || (c405)::VARCHAR), 'says': concat_ws('', coalesce(c400, ''))}] || flatten(list_transform(coalesce(CASE WHEN (c390 IN ('mail.submitted', 'mail.received', 'row.replaced', 'replica.dropped')) THEN CAST(NULL AS VARCHAR[][]) ELSE list_item(list_transform([list_flattened(list_transform(list_filter(str_split(c401, ';'), lambda v450: (NOT (v450 = ''))), lambda v449: list_transform(str_split(split_part(v449, ':', 2), ','), lambda v451: {'guid': split_part(v449, ':', 1), 'low': text_to_bigint(split_part(v451, '-', 1)), 'high': text_to_bigint(split_part(v451, '-', (-1)))})))], lambda v448: CASE WHEN (list_reduce(v448, lambda v452, v453: ((v452 + abs((((v453)."high")::DOUBLE - ((v453)."low")::DOUBLE))) + (1)::DOUBLE), CAST(0.0::DOUBLE AS DOUBLE)) > (500)::DOUBLE) THEN [[CAST(NULL AS VARCHAR)]] ELSE list_flattened(list_transform(v448, lambda v455: list_transform(number_series((v455)."low", (v455)."high"), lambda v456: [((v455)."guid" || ':' || (v456)::VARCHAR)]))) END), 0) END, CAST([] AS VARCHAR[][])), lambda v447: [{'fact': 'numbers of an entry', 'how': 'repeats', 'key': (c427 || ' ' || (c405)::VARCHAR), 'says': concat_ws('', coalesce(list_item(v447, 0), ''))}]))) WHEN (c390 = 'entry.satisfied') THEN ([{'fact': 'entry', 'how': 'repeats', 'key': (c427 || ' ' || (c405)::VARCHAR), 'says': concat_ws('', coalesce(c400, ''))}]) WHEN (c390 = 'entry.timed_out') THEN ([{'fact': 'entry', 'how': 'repeats', 'key': (c427 || ' ' || (c405)::VARCHAR), 'says': concat_ws('', coalesce(c400, ''))}]) WHEN (c390 = 'expired.everywhere') THEN (flatten(list_transform(coalesce(CASE WHEN (c390 IN ('mail.submitted', 'mail.received', 'row.replaced', 'replica.dropped')) THEN CAST(NULL AS VARCHAR[][]) ELSE list_item(list_transform([list_flattened(list_transform(list_filter(str_split(c401, ';'), lambda v460: (NOT (v460 = ''))), lambda v459: list_transform(str_split(split_part(v459, ':', 2), ','), lambda v461: {'guid': split_part(v459, ':', 1), 'low': text_to_bigint(split_part(v461, '-', 1)), 'high': text_to_bigint(split_part(v461, '-', (-1)))})))], lambda v458: CASE WHEN (list_reduce(v458, lambda v462, v463: ((v462 + abs((((v463)."high")::DOUBLE - ((v463)."low")::DOUBLE))) + (1)::DOUBLE), CAST(0.0::DOUBLE AS DOUBLE)) > (500)::DOUBLE) THEN [[CAST(NULL AS VARCHAR)]] ELSE list_flattened(list_transform(v458, lambda v465: list_transform(number_series((v465)."low", (v465)."high"), lambda v466: [((v465)."guid" || ':' || (v466)::VARCHAR)]))) END), 0) END, CAST([] AS VARCHAR[][])), lambda v457: [{'fact': 'version', 'how': 'repeats', 'key': (list_item(v457, 0)), 'says': concat_ws('', coalesce(CAST(NULL AS VARCHAR), ''), coalesce(c400, ''), '', '', '', '', '')}]))) WHEN (c390 = 'loss') THEN (flatten(list_transform(coalesce(CASE WHEN (c390 IN ('mail.submitted', 'mail.received', 'row.replaced', 'replica.dropped')) THEN CAST(NULL AS VARCHAR[][]) ELSE list_item(list_transform([list_flattened(list_transform(list_filter(str_split(c401, ';'), lambda v470: (NOT (v470 = ''))), lambda v469: list_transform(str_split(split_part(v469, ':', 2), ','), lambda v471: {'guid': split_part(v469, ':', 1), 'low': text_to_bigint(split_part(v471, '-', 1)), 'high': text_to_bigint(split_part(v471, '-', (-1)))})))], lambda v468: CASE WHEN (list_reduce(v468, lambda v472, v473: ((v472 + abs((((v473)."high")::DOUBLE - ((v473)."low")::DOUBLE))) + (1)::DOUBLE), CAST(0.0::DOUBLE AS DOUBLE)) > (500)::DOUBLE) THEN [[CAST(NULL AS VARCHAR)]] ELSE list_flattened(list_transform(v468, lambda v475: list_transform(number_series((v475)."low", (v475)."high"), lambda v476: [((v475)."guid" || ':' || (v476)::VARCHAR)]))) END), 0) END, CAST([] AS VARCHAR[][])), lambda v467: [{'fact': 'version', 'how': 'repeats', 'key': (list_item(v467, 0)), 'says': concat_ws('', '', '', '', '', '', '', '')}]))) WHEN (c390 = 'replica.added') THEN ([{'fact': 'own replica', 'how': 'first', 'key': (c427 || ' ' || (c393)::VARCHAR), 'says': concat_ws('', coalesce(c427, ''))}, {'fact': 'own replica', 'how': 'repeats', 'key': (c427 || ' ' || (c393)::VARCHAR), 'says': concat_ws('', coalesce(c397, ''))}, {'fact': 'holder', 'how': 'repeats', 'key': (c400 || ' ' || c397), 'says': concat_ws('', '')}]) WHEN (c390 = 'request.answered') THEN ([{'fact': 'request mail', 'how': 'repeats', 'key': (c408), 'says': concat_ws('', coalesce(CAST(NULL AS VARCHAR), ''), coalesce(c407, ''))}, {'fact': 'request that arrived', 'how': 'repeats', 'key': (c427 || ' ' || c408), 'says': concat_ws('', coalesce(c407, ''), coalesce(c400, ''))}, {'fact': 'response', 'how': 'repeats', 'key': (c427 || ' ' || c425 || ' ' || c400 || ' ' || c407), 'says': concat_ws('', coalesce(c401, ''))}]) WHEN (c390 = 'request.deferred') THEN ([{'fact': 'entry', 'how': 'repeats', 'key': (c427 || ' ' || (c405)::VARCHAR), 'says': concat_ws('', coalesce(c400, ''))}, {'fact': 'chosen source', 'how': 'repeats', 'key': (c427 || ' ' || (c405)::VARCHAR || ' ' || (c394)::VARCHAR), 'says': concat_ws('', coalesce(CAST(NULL AS VARCHAR), ''))}]) WHEN (c390 = 'request.ended') THEN ([{'fact': 'entry', 'how': 'repeats', 'key': (c427 || ' ' || (c405)::VARCHAR), 'says': concat_ws('', coalesce(c400, ''))}, {'fact': 'request', 'how': 'repeats', 'key': (c427 || ' ' || (c405)::VARCHAR), 'says': concat_ws('', coalesce(c400, ''), coalesce(c406, ''))}, {'fact': 'retried request', 'how': 'first', 'key': (c427 || ' ' || c428 || ' ' || c400 || ' ' || c406), 'says': concat_ws('', '')}]) WHEN (c390 = 'request.refused') THEN ([{'fact': 'request mail', 'how': 'repeats', 'key': (c408), 'says': concat_ws('', coalesce(CAST(NULL AS VARCHAR), ''), coalesce(c407, ''))}, {'fact': 'request that arrived', 'how': 'repeats', 'key': (c427 || ' ' || c408), 'says': concat_ws('', coalesce(c407, ''), coalesce(c400, ''))}]) WHEN (c390 = 'request.sent') THEN ([{'fact': 'entry', 'how': 'repeats', 'key': (c427 || ' ' || (c405)::VARCHAR), 'says': concat_ws('', coalesce(c400, ''))}, {'fact': 'request', 'how': 'first', 'key': (c427 || ' ' || (c405)::VARCHAR), 'says': concat_ws('', coalesce(c400, ''), coalesce(c406, ''))}, {'fact': 'request that is sent', 'how': 'repeats', 'key': (c427 || ' ' || (c394)::VARCHAR || ' ' || c400 || ' ' || c406), 'says': concat_ws('', coalesce(c406, ''), coalesce(c401, ''), coalesce(c402, ''))}, {'fact': 'chosen source', 'how': 'repeats', 'key': (c427 || ' ' || (c405)::VARCHAR || ' ' || (c394)::VARCHAR), 'says': concat_ws('', coalesce(c406, ''))}] || flatten(list_transform(coalesce(CASE WHEN (c390 IN ('mail.submitted', 'mail.received', 'row.replaced', 'replica.dropped')) THEN CAST(NULL AS VARCHAR[][]) ELSE list_item(list_transform([list_flattened(list_transform(list_filter(str_split(c401, ';'), lambda v480: (NOT (v480 = ''))), lambda v479: list_transform(str_split(split_part(v479, ':', 2), ','), lambda v481: {'guid': split_part(v479, ':', 1), 'low': text_to_bigint(split_part(v481, '-', 1)), 'high': text_to_bigint(split_part(v481, '-', (-1)))})))], lambda v478: CASE WHEN (list_reduce(v478, lambda v482, v483: ((v482 + abs((((v483)."high")::DOUBLE - ((v483)."low")::DOUBLE))) + (1)::DOUBLE), CAST(0.0::DOUBLE AS DOUBLE)) > (500)::DOUBLE) THEN [[CAST(NULL AS VARCHAR)]] ELSE list_flattened(list_transform(v478, lambda v485: list_transform(number_series((v485)."low", (v485)."high"), lambda v486: [((v485)."guid" || ':' || (v486)::VARCHAR)]))) END), 0) END, CAST([] AS VARCHAR[][])), lambda v477: [{'fact': 'numbers of an entry', 'how': 'repeats', 'key': (c427 || ' ' || (c405)::VARCHAR), 'says': concat_ws('', coalesce(list_item(v477, 0), ''))}]))) WHEN (c390 = 'responders.considered') THEN ([{'fact': 'status request', 'how': 'if known', 'key': (c427 || ' ' || c422 || ' ' || c400), 'says': concat_ws('', coalesce(c423, ''))}, {'fact': 'choice of responders', 'how': 'first', 'key': (c427 || ' ' || c422 || ' ' || c400), 'says': concat_ws('', '')}] || flatten(list_transform(coalesce(list_transform(c410, lambda v488: [v488]), CAST([] AS VARCHAR[][])), lambda v487: [{'fact': 'responder', 'how': 'repeats', 'key': (c427 || ' ' || c422 || ' ' || c400), 'says': concat_ws('', coalesce(list_item(v487, 0), ''))}]))) WHEN (c390 = 'row.replaced') THEN ([{'fact': 'mail', 'how': 'repeats', 'key': (c395), 'says': concat_ws('', coalesce(c397, ''), coalesce(CAST(NULL AS VARCHAR), ''), coalesce(CAST(NULL AS VARCHAR), ''), coalesce((c404)::VARCHAR, ''), coalesce(CAST(NULL AS VARCHAR), ''), coalesce((c403)::VARCHAR, ''))}, {'fact': 'arrived mail', 'how': 'repeats', 'key': (c395 || ' ' || c427), 'says': concat_ws('', '')}]) WHEN (c390 = 'source.down') THEN ([{'fact': 'retried request', 'how': 'repeats', 'key': (c427 || ' ' || (c394)::VARCHAR || ' ' || c400 || ' ' || c397), 'says': concat_ws('', '')}]) WHEN (c390 = 'source.up') THEN ([{'fact': 'mail from a store', 'how': 'repeats', 'key': (c427 || ' ' || (c394)::VARCHAR || ' ' || c397), 'says': concat_ws('', '')}]) WHEN (c390 = 'sources.considered') THEN ([{'fact': 'entry', 'how': 'repeats', 'key': (c427 || ' ' || (c405)::VARCHAR), 'says': concat_ws('', coalesce(c400, ''))}] || flatten(list_transform(coalesce(CASE WHEN (c390 IN ('mail.submitted', 'mail.received', 'row.replaced', 'replica.dropped')) THEN CAST(NULL AS VARCHAR[][]) ELSE list_item(list_transform([list_flattened(list_transform(list_filter(str_split(c401, ';'), lambda v492: (NOT (v492 = ''))), lambda v491: list_transform(str_split(split_part(v491, ':', 2), ','), lambda v493: {'guid': split_part(v491, ':', 1), 'low': text_to_bigint(split_part(v493, '-', 1)), 'high': text_to_bigint(split_part(v493, '-', (-1)))})))], lambda v490: CASE WHEN (list_reduce(v490, lambda v494, v495: ((v494 + abs((((v495)."high")::DOUBLE - ((v495)."low")::DOUBLE))) + (1)::DOUBLE), CAST(0.0::DOUBLE AS DOUBLE)) > (500)::DOUBLE) THEN [[CAST(NULL AS VARCHAR)]] ELSE list_flattened(list_transform(v490, lambda v497: list_transform(number_series((v497)."low", (v497)."high"), lambda v498: [((v497)."guid" || ':' || (v498)::VARCHAR)]))) END), 0) END, CAST([] AS VARCHAR[][])), lambda v489: [{'fact': 'numbers of an entry', 'how': 'repeats', 'key': (c427 || ' ' || (c405)::VARCHAR), 'says': concat_ws('', coalesce(list_item(v489, 0), ''))}])) || flatten(list_transform(coalesce(list_transform(c410, lambda v500: [v500]), CAST([] AS VARCHAR[][])), lambda v499: [{'fact': 'chosen source', 'how': 'first', 'key': (c427 || ' ' || (c405)::VARCHAR || ' ' || (c394)::VARCHAR), 'says': concat_ws('', coalesce(list_item(v499, 0), ''))}]))) WHEN (c390 = 'status.due') THEN (flatten(list_transform(coalesce(CASE WHEN (c390 LIKE 'mail.%' ESCAPE '\') THEN list_transform(c419, lambda v502: [(v502)."folder", (v502)."cnset", (v502)."cnset_fai", CASE WHEN ((v502)."cnset_fai" = '') THEN (v502)."cnset" ELSE CASE WHEN ((v502)."cnset" = '') THEN (v502)."cnset_fai" ELSE CAST(NULL AS VARCHAR) END END]) ELSE list_transform(list_filter(list_from_json(CASE WHEN (c399 = '[]') THEN '[""]' ELSE c399 END, '"VARCHAR[]"'), lambda v504: (NOT (v504 = '1-1'))), lambda v503: [v503]) END, CAST([] AS VARCHAR[][])), lambda v501: [{'fact': 'folder', 'how': 'repeats', 'key': (list_item(v501, 0)), 'says': concat_ws('', '')}]))) WHEN (c390 = 'status.ordered') THEN ([{'fact': 'status request', 'how': 'repeats', 'key': (c427 || ' ' || (c394)::VARCHAR || ' ' || c400), 'says': concat_ws('', coalesce(CAST(NULL AS VARCHAR), ''))}]) WHEN (c390 = 'store.deleted') THEN ([{'fact': 'server', 'how': 'repeats', 'key': (c397), 'says': concat_ws('', '')}, {'fact': 'directory object', 'how': 'repeats', 'key': (c397 || ' ' || c424), 'says': concat_ws('', '')}]) WHEN (c390 = 'tree.lacking') THEN (flatten(list_transform(coalesce(CASE WHEN (coalesce(len(c412)::INTEGER, -1) = 0) THEN [['']] ELSE list_transform(c412, lambda v506: [v506]) END, CAST([] AS VARCHAR[][])), lambda v505: [{'fact': 'object without a tree', 'how': 'repeats', 'key': (c427 || ' ' || list_item(v505, 0)), 'says': concat_ws('', '')}]))) WHEN (c390 = 'tree.linked') THEN ([{'fact': 'object without a tree', 'how': 'first', 'key': (c427 || ' ' || c397), 'says': concat_ws('', '')}, {'fact': 'server', 'how': 'repeats', 'key': (c397), 'says': concat_ws('', '')}]) END) AS uc388 FROM 
(SELECT c391, c392, c390, c393, c394, c395, c397, c399, c400, c401, c402, c403, c404, c405, c406, c407, c408, c410, c412, c416, c417, c418, c419, CASE WHEN (c390 IN ('address.stamped')) THEN split_part(c413, '@', -1) END AS c420, CASE WHEN (c390 IN ('address.stamped')) THEN split_part(c413, '@', 1) END AS c421, CASE WHEN (c390 IN ('responders.considered')) THEN (CASE WHEN (coalesce(len(c410)::INTEGER, -1) > 0) THEN c394 ELSE CAST(NULL AS BIGINT) END)::VARCHAR END AS c422, CASE WHEN (c390 IN ('responders.considered')) THEN CASE WHEN (c411 = 'all holders') THEN list_text(list_sort(c410, 'ASC', 'NULLS LAST'), ' ') ELSE CAST(NULL AS VARCHAR) END END AS c423, CASE WHEN (c390 IN ('store.deleted')) THEN (CASE WHEN (c398 = text_to_bigint('0')) THEN CAST(NULL AS BIGINT) ELSE c398 END)::VARCHAR END AS c424, CASE WHEN (c390 IN ('request.answered')) THEN (CASE WHEN (c409 = (1)::BIGINT) THEN c394 ELSE CAST(NULL AS BIGINT) END)::VARCHAR END AS c425, CASE WHEN (c390 IN ('changes.resent')) THEN (CASE WHEN (NOT ((c401 || c402) = '')) THEN c394 ELSE CAST(NULL AS BIGINT) END)::VARCHAR END AS c426, CASE WHEN (c390 IN ('address.lacking', 'address.missing', 'changes.resent', 'entry.made', 'entry.pruned', 'entry.satisfied', 'entry.timed_out', 'replica.added', 'request.answered', 'request.deferred', 'request.ended', 'request.refused', 'request.sent', 'responders.considered', 'row.replaced', 'source.down', 'source.up', 'sources.considered', 'status.ordered', 'tree.lacking', 'tree.linked')) THEN c392 END AS c427, CASE WHEN (c390 IN ('request.ended')) THEN (CASE WHEN (c396 = 'retry') THEN c394 ELSE CAST(NULL AS BIGINT) END)::VARCHAR END AS c428 FROM 
(SELECT c391, c392, c390, c393, c394, c395, c396, c397, c398, c399, c400, c401, c402, c403, c404, c405, c406, c407, c408, c409, c410, c411, c412, c413, c416, c417, c418, list_from_json(CASE WHEN (c390 LIKE 'mail.%' ESCAPE '\') THEN c399 ELSE CAST(NULL AS VARCHAR) END, '"STRUCT(\"folder\" VARCHAR, \"cnset\" VARCHAR, \"cnset_fai\" VARCHAR)[]"') AS c419 FROM 
(SELECT c391, c392, c390, c393, c394, c395, c396, c397, c398, c399, c400, c401, c402, c403, c404, c405, c406, c407, c408, c409, c410, c411, c412, c413, c416, c417, c418 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT "trace" AS c391, "node" AS c392, "type" AS c390, "seq" AS c393, "at" AS c394, "mail" AS c395, "how" AS c396, "store" AS c397, "directory_object" AS c398, "folders" AS c399, "folder" AS c400, "cnset" AS c401, "cnset_fai" AS c402, "sent_at" AS c403, "sent_number" AS c404, "entry" AS c405, "source" AS c406, "requester" AS c407, "request_mail" AS c408, "mails" AS c409, "chosen" AS c410, "method" AS c411, "stores" AS c412, "address" AS c413, "family" AS c389 FROM "silver/events") WHERE ((c389 IN ('replication')) AND (c390 IN ('address.lacking', 'address.missing', 'address.stamped', 'changes.resent', 'entry.made', 'entry.pruned', 'entry.satisfied', 'entry.timed_out', 'expired.everywhere', 'loss', 'replica.added', 'request.answered', 'request.deferred', 'request.ended', 'request.refused', 'request.sent', 'responders.considered', 'row.replaced', 'source.down', 'source.up', 'sources.considered', 'status.due', 'status.ordered', 'store.deleted', 'tree.lacking', 'tree.linked')))) LEFT JOIN 
(SELECT * FROM 
(SELECT "trace" AS c414, "node" AS c415, "gone" AS c416, "sent_until" AS c417, "undone_spans" AS c418 FROM "evidence/nodes")) ON ((c391 = c414) AND (c392 = c415))))))))) WHERE ((c388)."key" IS NOT NULL)))
UNION ALL SELECT c518 AS c5, c519 AS c16, c537 AS c17, c517 AS c10, c532 AS c18, c533 AS c19, c534 AS c20, c535 AS c21, c536 AS c22, c529 AS c23 FROM 
(SELECT c518, c519, c537, c517, c532, c533, c534, c535, c536, c529 FROM 
(SELECT c518, c519, c517, c529, c532, c533, c534, c535, c536, min(c521) AS c537 FROM 
(SELECT c518, c519, c521, c517, c529, (c515)."fact" AS c532, (c515)."how" AS c533, (c515)."key" AS c534, (c515)."says" AS c535, ((((c515)."fact" IN ('request', 'recipient at a server', 'request that is sent', 'chosen source', 'status request', 'order to send again')) AND (NOT c529)) AND ((NOT c531) AND ((NOT ((c515)."fact" = 'recipient at a server')) OR coalesce((c521 <= c526), FALSE)))) AS c536 FROM 
(SELECT c518, c519, c521, c517, coalesce(list_any(list_transform(c527, lambda v530: ((c520 > (v530)."after") AND (c520 < (v530)."before")))), FALSE) AS c529, coalesce(c525, FALSE) AS c531, c526, c515 FROM 
(SELECT * EXCLUDE (uc515), uc515 AS c515 FROM (SELECT *, unnest(CASE WHEN (c517 = 'mail.not_posted') THEN ([{'fact': 'folder', 'how': 'repeats', 'key': (c528), 'says': concat_ws('', '')}]) END) AS uc515 FROM 
(SELECT c518, c519, c517, c520, c521, c525, c526, c527, CASE WHEN (c517 IN ('mail.not_posted')) THEN CASE WHEN (c522 = '1-1') THEN CAST(NULL AS VARCHAR) ELSE c522 END END AS c528 FROM 
(SELECT c518, c519, c517, c520, c521, c522, c525, c526, c527 FROM 
(SELECT c518, c519, c517, c520, c521, c522, c525, c526, c527 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT "trace" AS c518, "node" AS c519, "type" AS c517, "seq" AS c520, "at" AS c521, "folder" AS c522, "family" AS c516 FROM "silver/events") WHERE ((c516 IN ('mail')) AND (c517 IN ('mail.not_posted')))) LEFT JOIN 
(SELECT * FROM 
(SELECT "trace" AS c523, "node" AS c524, "gone" AS c525, "sent_until" AS c526, "undone_spans" AS c527 FROM "evidence/nodes")) ON ((c518 = c523) AND (c519 = c524))))))))) WHERE ((c515)."key" IS NOT NULL)) GROUP BY c518, c519, c517, c529, c532, c533, c534, c535, c536))
UNION ALL SELECT c541 AS c5, c542 AS c16, c563 AS c17, c540 AS c10, c558 AS c18, c559 AS c19, c560 AS c20, c561 AS c21, c562 AS c22, c555 AS c23 FROM 
(SELECT c541, c542, c563, c540, c558, c559, c560, c561, c562, c555 FROM 
(SELECT c541, c542, c540, c555, c558, c559, c560, c561, c562, min(c544) AS c563 FROM 
(SELECT c541, c542, c544, c540, c555, (c538)."fact" AS c558, (c538)."how" AS c559, (c538)."key" AS c560, (c538)."says" AS c561, ((((c538)."fact" IN ('request', 'recipient at a server', 'request that is sent', 'chosen source', 'status request', 'order to send again')) AND (NOT c555)) AND ((NOT c557) AND ((NOT ((c538)."fact" = 'recipient at a server')) OR coalesce((c544 <= c550), FALSE)))) AS c562 FROM 
(SELECT c541, c542, c544, c540, coalesce(list_any(list_transform(c551, lambda v556: ((c543 > (v556)."after") AND (c543 < (v556)."before")))), FALSE) AS c555, coalesce(c549, FALSE) AS c557, c550, c538 FROM 
(SELECT * EXCLUDE (uc538), uc538 AS c538 FROM (SELECT *, unnest(CASE WHEN (c540 = 'change.made') THEN ([{'fact': 'folder', 'how': 'repeats', 'key': (c552), 'says': concat_ws('', '')}]) WHEN (c540 = 'version.applied') THEN ([{'fact': 'mail that is read', 'how': 'repeats', 'key': (c553 || ' ' || c554), 'says': concat_ws('', coalesce(c545, ''), coalesce(c546, ''))}]) WHEN (c540 = 'version.held') THEN ([{'fact': 'mail that is read', 'how': 'repeats', 'key': (c553 || ' ' || c554), 'says': concat_ws('', coalesce(c545, ''), coalesce(c546, ''))}]) WHEN (c540 = 'version.ignored') THEN ([{'fact': 'mail that is read', 'how': 'repeats', 'key': (c553 || ' ' || c554), 'says': concat_ws('', coalesce(c545, ''), coalesce(c546, ''))}]) END) AS uc538 FROM 
(SELECT c541, c542, c540, c543, c544, c545, c546, c549, c550, c551, CASE WHEN (c540 IN ('change.made')) THEN CASE WHEN (c545 = '1-1') THEN CAST(NULL AS VARCHAR) ELSE c545 END END AS c552, CASE WHEN (c540 IN ('version.applied', 'version.held', 'version.ignored')) THEN c542 END AS c553, CASE WHEN (c540 IN ('version.applied', 'version.held', 'version.ignored')) THEN (CASE WHEN (c546 = 'queue') THEN CAST(NULL AS BIGINT) ELSE c544 END)::VARCHAR END AS c554 FROM 
(SELECT c541, c542, c540, c543, c544, c545, c546, c549, c550, c551 FROM 
(SELECT c541, c542, c540, c543, c544, c545, c546, c549, c550, c551 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT "trace" AS c541, "node" AS c542, "type" AS c540, "seq" AS c543, "at" AS c544, "folder" AS c545, "way" AS c546, "family" AS c539 FROM "silver/events") WHERE ((c539 IN ('change')) AND (c540 IN ('change.made', 'version.applied', 'version.held', 'version.ignored')))) LEFT JOIN 
(SELECT * FROM 
(SELECT "trace" AS c547, "node" AS c548, "gone" AS c549, "sent_until" AS c550, "undone_spans" AS c551 FROM "evidence/nodes")) ON ((c541 = c547) AND (c542 = c548))))))))) WHERE ((c538)."key" IS NOT NULL)) GROUP BY c541, c542, c540, c555, c558, c559, c560, c561, c562))
UNION ALL SELECT c567 AS c5, c568 AS c16, c586 AS c17, c566 AS c10, c581 AS c18, c582 AS c19, c583 AS c20, c584 AS c21, c585 AS c22, c578 AS c23 FROM 
(SELECT c567, c568, c586, c566, c581, c582, c583, c584, c585, c578 FROM 
(SELECT c567, c568, c566, c578, c581, c582, c583, c584, c585, min(c570) AS c586 FROM 
(SELECT c567, c568, c570, c566, c578, (c564)."fact" AS c581, (c564)."how" AS c582, (c564)."key" AS c583, (c564)."says" AS c584, ((((c564)."fact" IN ('request', 'recipient at a server', 'request that is sent', 'chosen source', 'status request', 'order to send again')) AND (NOT c578)) AND ((NOT c580) AND ((NOT ((c564)."fact" = 'recipient at a server')) OR coalesce((c570 <= c575), FALSE)))) AS c585 FROM 
(SELECT c567, c568, c570, c566, coalesce(list_any(list_transform(c576, lambda v579: ((c569 > (v579)."after") AND (c569 < (v579)."before")))), FALSE) AS c578, coalesce(c574, FALSE) AS c580, c575, c564 FROM 
(SELECT * EXCLUDE (uc564), uc564 AS c564 FROM (SELECT *, unnest(CASE WHEN (c566 = 'changes.resent') THEN ([{'fact': 'folder', 'how': 'repeats', 'key': (c577), 'says': concat_ws('', '')}]) WHEN (c566 = 'entry.made') THEN ([{'fact': 'folder', 'how': 'repeats', 'key': (c577), 'says': concat_ws('', '')}]) WHEN (c566 = 'folder.hidden') THEN ([{'fact': 'folder', 'how': 'repeats', 'key': (c577), 'says': concat_ws('', '')}]) WHEN (c566 = 'folder.moved') THEN ([{'fact': 'folder', 'how': 'repeats', 'key': (c577), 'says': concat_ws('', '')}]) WHEN (c566 = 'folder.shown') THEN ([{'fact': 'folder', 'how': 'repeats', 'key': (c577), 'says': concat_ws('', '')}]) WHEN (c566 = 'loss') THEN ([{'fact': 'folder', 'how': 'repeats', 'key': (c577), 'says': concat_ws('', '')}]) WHEN (c566 = 'post.refused') THEN ([{'fact': 'folder', 'how': 'repeats', 'key': (c577), 'says': concat_ws('', '')}]) WHEN (c566 = 'replica.added') THEN ([{'fact': 'folder', 'how': 'repeats', 'key': (c577), 'says': concat_ws('', '')}]) WHEN (c566 = 'replica.dropped') THEN ([{'fact': 'folder', 'how': 'repeats', 'key': (c577), 'says': concat_ws('', '')}]) WHEN (c566 = 'replica.pending') THEN ([{'fact': 'folder', 'how': 'repeats', 'key': (c577), 'says': concat_ws('', '')}]) WHEN (c566 = 'responders.considered') THEN ([{'fact': 'folder', 'how': 'repeats', 'key': (c577), 'says': concat_ws('', '')}]) WHEN (c566 = 'row.replaced') THEN ([{'fact': 'folder', 'how': 'repeats', 'key': (c577), 'says': concat_ws('', '')}]) WHEN (c566 = 'source.down') THEN ([{'fact': 'folder', 'how': 'repeats', 'key': (c577), 'says': concat_ws('', '')}]) WHEN (c566 = 'status.ordered') THEN ([{'fact': 'folder', 'how': 'repeats', 'key': (c577), 'says': concat_ws('', '')}]) END) AS uc564 FROM 
(SELECT c567, c568, c566, c569, c570, c574, c575, c576, CASE WHEN (c566 IN ('changes.resent', 'entry.made', 'folder.hidden', 'folder.moved', 'folder.shown', 'loss', 'post.refused', 'replica.added', 'replica.dropped', 'replica.pending', 'responders.considered', 'row.replaced', 'source.down', 'status.ordered')) THEN CASE WHEN (c571 = '1-1') THEN CAST(NULL AS VARCHAR) ELSE c571 END END AS c577 FROM 
(SELECT c567, c568, c566, c569, c570, c571, c574, c575, c576 FROM 
(SELECT c567, c568, c566, c569, c570, c571, c574, c575, c576 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT "trace" AS c567, "node" AS c568, "type" AS c566, "seq" AS c569, "at" AS c570, "folder" AS c571, "family" AS c565 FROM "silver/events") WHERE ((c565 IN ('replication')) AND (c566 IN ('changes.resent', 'entry.made', 'folder.hidden', 'folder.moved', 'folder.shown', 'loss', 'post.refused', 'replica.added', 'replica.dropped', 'replica.pending', 'responders.considered', 'row.replaced', 'source.down', 'status.ordered')))) LEFT JOIN 
(SELECT * FROM 
(SELECT "trace" AS c572, "node" AS c573, "gone" AS c574, "sent_until" AS c575, "undone_spans" AS c576 FROM "evidence/nodes")) ON ((c567 = c572) AND (c568 = c573))))))))) WHERE ((c564)."key" IS NOT NULL)) GROUP BY c567, c568, c566, c578, c581, c582, c583, c584, c585))) GROUP BY c5, c18, c20))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c619, (TRUE AND min((c620 = 'converged'))) AS c621 FROM 
(SELECT "trace" AS c619, "judgement" AS c620 FROM "gold/verdicts") GROUP BY c619)) ON (c5 = c619)))) GROUP BY c5))))) WHERE (c1 > (0)::BIGINT));

-- table rules/steps
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c12 AS "trace", c74 AS "check", c1 AS "consumed", c75 AS "violations", c76 AS "at", c77 AS "witness" FROM (SELECT * FROM 
(SELECT c12, (c2)."check" AS c74, (c2)."consumed" AS c1, (c2)."violations" AS c75, (c2)."at" AS c76, (c2)."witness" AS c77 FROM 
(SELECT c12, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'events follow each other in order', 'consumed': c68, 'violations': c69, 'at': (c70)."at", 'witness': (c70)."words"}, {'check': 'what begins comes to its end', 'consumed': c71, 'violations': c72, 'at': (c73)."at", 'witness': (c73)."words"}]) AS uc2 FROM 
(SELECT c12, count(1) FILTER (WHERE c62) AS c68, count(1) FILTER (WHERE c63) AS c69, arg_min(CASE WHEN c63 THEN {'at': c61, 'words': c64} END, CASE WHEN c63 THEN {n0: c61 IS NOT NULL, v0: c61, n1: c64 IS NOT NULL, v1: c64} END) AS c70, count(1) FILTER (WHERE c65) AS c71, count(1) FILTER (WHERE c66) AS c72, arg_min(CASE WHEN c66 THEN {'at': c61, 'words': c67} END, CASE WHEN c66 THEN {n0: c61 IS NOT NULL, v0: c61, n1: c67 IS NOT NULL, v1: c67} END) AS c73 FROM 
(SELECT c12, c14 AS c61, coalesce(TRUE, FALSE) AS c62, CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce(c56, FALSE)) ELSE FALSE END AS c63, CASE WHEN CASE WHEN coalesce(TRUE, FALSE) THEN (NOT coalesce(c56, FALSE)) ELSE FALSE END THEN (c13 || ' has ' || c32 || ' of a ' || c4 || ' after ' || CASE WHEN (c53 = 'begin') THEN 'nothing' ELSE c53 END) END AS c64, coalesce((c60 AND (c55 = 'end')), FALSE) AS c65, CASE WHEN coalesce((c60 AND (c55 = 'end')), FALSE) THEN (NOT coalesce(c57, FALSE)) ELSE FALSE END AS c66, CASE WHEN CASE WHEN coalesce((c60 AND (c55 = 'end')), FALSE) THEN (NOT coalesce(c57, FALSE)) ELSE FALSE END THEN (c13 || ' has ' || c32 || ' of a ' || c4 || ', and nothing after it') END AS c67 FROM 
(SELECT c12, c13, c14, c4, c53, c32, c55, c56, c57, c60 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c12, c13, c14, c4, c53, c32, c55, (coalesce((concat_ws('', c4, c53, c32) IN ('copy of a mailbeginhop.sent', 'copy of a mailbeginhop.failed', 'copy of a mailbeginhop.failed for good', 'copy of a mailbeginhop.expired', 'copy of a mailbeginhop.deleted', 'copy of a mailbeginqueue.frozen', 'copy of a mailbeginqueue.unfrozen', 'copy of a mailhop.failedhop.sent', 'copy of a mailhop.failedhop.failed', 'copy of a mailhop.failedhop.failed for good', 'copy of a mailhop.failedhop.expired', 'copy of a mailhop.failedhop.deleted', 'copy of a mailhop.failedqueue.frozen', 'copy of a mailhop.failedqueue.unfrozen', 'copy of a mailhop.failedend', 'copy of a mailhop.failed for goodhop.expired', 'copy of a mailhop.failed for goodend', 'copy of a mailhop.senthop.failed', 'copy of a mailhop.senthop.failed for good', 'copy of a mailhop.senthop.expired', 'copy of a mailhop.senthop.deleted', 'copy of a mailhop.sentqueue.frozen', 'copy of a mailhop.sentqueue.unfrozen', 'copy of a mailhop.sentend', 'copy of a mailhop.expiredhop.sent', 'copy of a mailhop.expiredhop.failed', 'copy of a mailhop.expiredhop.failed for good', 'copy of a mailhop.expiredhop.expired', 'copy of a mailhop.expiredhop.deleted', 'copy of a mailhop.expiredqueue.frozen', 'copy of a mailhop.expiredqueue.unfrozen', 'copy of a mailhop.expiredend', 'copy of a mailhop.deletedend', 'copy of a mailqueue.frozenqueue.unfrozen', 'copy of a mailqueue.frozenhop.sent', 'copy of a mailqueue.frozenhop.failed', 'copy of a mailqueue.frozenhop.failed for good', 'copy of a mailqueue.frozenhop.expired', 'copy of a mailqueue.frozenhop.deleted', 'copy of a mailqueue.frozenend', 'copy of a mailqueue.unfrozenqueue.frozen', 'copy of a mailqueue.unfrozenhop.sent', 'copy of a mailqueue.unfrozenhop.failed', 'copy of a mailqueue.unfrozenhop.failed for good', 'copy of a mailqueue.unfrozenhop.expired', 'copy of a mailqueue.unfrozenhop.deleted', 'copy of a mailqueue.unfrozenend', 'mailbeginmail.submitted', 'mailbeginhop.received', 'mailbeginhop.received here', 'mailmail.submittedhop.sent', 'mailmail.submittedhop.failed', 'mailmail.submittedhop.failed for good', 'mailmail.submittedhop.expired', 'mailmail.submittedhop.deleted', 'mailhop.receivedhop.sent', 'mailhop.receivedhop.failed', 'mailhop.receivedhop.failed for good', 'mailhop.receivedhop.expired', 'mailhop.receivedhop.deleted', 'mailhop.receivedhop.received', 'mailhop.receivedhop.received here', 'mailhop.received herehop.sent', 'mailhop.received herehop.failed', 'mailhop.received herehop.failed for good', 'mailhop.received herehop.expired', 'mailhop.received herehop.deleted', 'mailhop.received herehop.received', 'mailhop.received herehop.received here', 'mailhop.received heremail.received', 'mailhop.received heremail.bad', 'mailhop.senthop.sent', 'mailhop.senthop.failed', 'mailhop.senthop.failed for good', 'mailhop.senthop.expired', 'mailhop.senthop.deleted', 'mailhop.senthop.received', 'mailhop.senthop.received here', 'mailhop.sentmail.received', 'mailhop.sentmail.bad', 'mailhop.sentend', 'mailhop.failedhop.sent', 'mailhop.failedhop.failed', 'mailhop.failedhop.failed for good', 'mailhop.failedhop.expired', 'mailhop.failedhop.deleted', 'mailhop.failedhop.received', 'mailhop.failedhop.received here', 'mailhop.failedmail.received', 'mailhop.failedmail.bad', 'mailhop.failedend', 'mailhop.failed for goodhop.sent', 'mailhop.failed for goodhop.failed', 'mailhop.failed for goodhop.failed for good', 'mailhop.failed for goodhop.expired', 'mailhop.failed for goodhop.deleted', 'mailhop.failed for goodhop.received', 'mailhop.failed for goodhop.received here', 'mailhop.failed for goodmail.received', 'mailhop.failed for goodmail.bad', 'mailhop.failed for goodend', 'mailhop.expiredhop.sent', 'mailhop.expiredhop.failed', 'mailhop.expiredhop.failed for good', 'mailhop.expiredhop.expired', 'mailhop.expiredhop.deleted', 'mailhop.expiredhop.received', 'mailhop.expiredhop.received here', 'mailhop.expiredmail.received', 'mailhop.expiredmail.bad', 'mailhop.expiredend', 'mailhop.deletedhop.sent', 'mailhop.deletedhop.failed', 'mailhop.deletedhop.failed for good', 'mailhop.deletedhop.expired', 'mailhop.deletedhop.deleted', 'mailhop.deletedhop.received', 'mailhop.deletedhop.received here', 'mailhop.deletedmail.received', 'mailhop.deletedmail.bad', 'mailhop.deletedend', 'mailmail.receivedhop.sent', 'mailmail.receivedhop.failed', 'mailmail.receivedhop.failed for good', 'mailmail.receivedhop.expired', 'mailmail.receivedhop.deleted', 'mailmail.receivedhop.received', 'mailmail.receivedhop.received here', 'mailmail.receivedmail.received', 'mailmail.receivedmail.bad', 'mailmail.receivedend', 'mailmail.badhop.sent', 'mailmail.badhop.failed', 'mailmail.badhop.failed for good', 'mailmail.badhop.expired', 'mailmail.badhop.deleted', 'mailmail.badhop.received', 'mailmail.badhop.received here', 'mailmail.badmail.received', 'mailmail.badmail.bad', 'mailmail.badend', 'mail to this storebeginhop.received here', 'mail to this storehop.received heremail.received', 'mail to this storehop.received heremail.bad', 'mail to this storemail.receivedhop.received here', 'mail to this storemail.receivedend', 'mail to this storemail.badhop.received here', 'mail to this storemail.badend', 'entrybeginentry.made', 'entryentry.madeentry.timed_out', 'entryentry.madeentry.satisfied', 'entryentry.madeentry.pruned', 'entryentry.madesources.considered', 'entryentry.madesources.considered in vain', 'entryentry.timed_outsources.considered', 'entryentry.timed_outsources.considered in vain', 'entrysources.consideredrequest.sent', 'entrysources.consideredrequest.deferred', 'entrysources.considered in vainentry.timed_out', 'entrysources.considered in vainentry.satisfied', 'entrysources.considered in vainentry.pruned', 'entrysources.considered in vainsources.considered', 'entrysources.considered in vainsources.considered in vain', 'entrysources.considered in vainrequest.ended satisfied', 'entrysources.considered in vainrequest.ended retry', 'entrysources.considered in vainrequest.ended empty', 'entrysources.considered in vainrequest.ended pruned', 'entrysources.considered in vainrequest.ended expired', 'entryrequest.deferredsources.considered', 'entryrequest.deferredsources.considered in vain', 'entryrequest.deferredentry.satisfied', 'entryrequest.deferredentry.pruned', 'entryrequest.deferredrequest.ended satisfied', 'entryrequest.deferredrequest.ended retry', 'entryrequest.deferredrequest.ended empty', 'entryrequest.deferredrequest.ended pruned', 'entryrequest.deferredrequest.ended expired', 'entryrequest.sentrequest.sent', 'entryrequest.sentrequest.deferred', 'entryrequest.sententry.timed_out', 'entryrequest.sentsources.considered', 'entryrequest.sentsources.considered in vain', 'entryrequest.sententry.pruned', 'entryrequest.sentrequest.ended satisfied', 'entryrequest.sentrequest.ended retry', 'entryrequest.sentrequest.ended empty', 'entryrequest.sentrequest.ended pruned', 'entryrequest.sentrequest.ended expired', 'entryrequest.ended satisfiedentry.timed_out', 'entryrequest.ended satisfiedentry.satisfied', 'entryrequest.ended satisfiedentry.pruned', 'entryrequest.ended satisfiedsources.considered', 'entryrequest.ended satisfiedsources.considered in vain', 'entryrequest.ended satisfiedrequest.ended satisfied', 'entryrequest.ended satisfiedrequest.ended retry', 'entryrequest.ended satisfiedrequest.ended empty', 'entryrequest.ended satisfiedrequest.ended pruned', 'entryrequest.ended satisfiedrequest.ended expired', 'entryrequest.ended retryentry.timed_out', 'entryrequest.ended retryentry.satisfied', 'entryrequest.ended retryentry.pruned', 'entryrequest.ended retrysources.considered', 'entryrequest.ended retrysources.considered in vain', 'entryrequest.ended retryrequest.ended satisfied', 'entryrequest.ended retryrequest.ended retry', 'entryrequest.ended retryrequest.ended empty', 'entryrequest.ended retryrequest.ended pruned', 'entryrequest.ended retryrequest.ended expired', 'entryrequest.ended emptyentry.timed_out', 'entryrequest.ended emptyentry.satisfied', 'entryrequest.ended emptyentry.pruned', 'entryrequest.ended emptysources.considered', 'entryrequest.ended emptysources.considered in vain', 'entryrequest.ended emptyrequest.ended satisfied', 'entryrequest.ended emptyrequest.ended retry', 'entryrequest.ended emptyrequest.ended empty', 'entryrequest.ended emptyrequest.ended pruned', 'entryrequest.ended emptyrequest.ended expired', 'entryrequest.ended prunedentry.timed_out', 'entryrequest.ended prunedentry.satisfied', 'entryrequest.ended prunedentry.pruned', 'entryrequest.ended prunedsources.considered', 'entryrequest.ended prunedsources.considered in vain', 'entryrequest.ended prunedrequest.ended satisfied', 'entryrequest.ended prunedrequest.ended retry', 'entryrequest.ended prunedrequest.ended empty', 'entryrequest.ended prunedrequest.ended pruned', 'entryrequest.ended prunedrequest.ended expired', 'entryrequest.ended prunedend', 'entryrequest.ended expiredentry.timed_out', 'entryrequest.ended expiredentry.satisfied', 'entryrequest.ended expiredentry.pruned', 'entryrequest.ended expiredsources.considered', 'entryrequest.ended expiredsources.considered in vain', 'entryrequest.ended expiredrequest.ended satisfied', 'entryrequest.ended expiredrequest.ended retry', 'entryrequest.ended expiredrequest.ended empty', 'entryrequest.ended expiredrequest.ended pruned', 'entryrequest.ended expiredrequest.ended expired', 'entryentry.prunedentry.timed_out', 'entryentry.prunedentry.satisfied', 'entryentry.prunedentry.pruned', 'entryentry.prunedsources.considered', 'entryentry.prunedsources.considered in vain', 'entryentry.prunedrequest.ended satisfied', 'entryentry.prunedrequest.ended retry', 'entryentry.prunedrequest.ended empty', 'entryentry.prunedrequest.ended pruned', 'entryentry.prunedrequest.ended expired', 'entryentry.prunedend', 'entryentry.satisfiedend', 'nodebeginnode.started', 'nodenode.startednode.stopped', 'nodenode.startednode.started again', 'nodenode.startednode.started restored', 'nodenode.startednode.started', 'nodenode.started againnode.stopped', 'nodenode.started againnode.started again', 'nodenode.started againnode.started restored', 'nodenode.started againnode.started', 'nodenode.started restorednode.stopped', 'nodenode.started restorednode.started again', 'nodenode.started restorednode.started restored', 'nodenode.started restorednode.started', 'nodenode.stoppednode.started again', 'nodenode.stoppednode.started restored', 'nodenode.stoppednode.started', 'nodenode.stoppedend', 'replicabeginreplica.added', 'replicabeginreplica.pending', 'replicabeginreplica.dropped', 'replicareplica.addedreplica.pending', 'replicareplica.addedreplica.dropped', 'replicareplica.addedend', 'replicareplica.pendingreplica.pending', 'replicareplica.pendingreplica.dropped', 'replicareplica.pendingend', 'replicareplica.droppedreplica.added', 'replicareplica.droppedend', 'directory entrybeginaddress.stamped', 'directory entrybeginaddress.missing', 'directory entryaddress.stampedaddress.stamped', 'directory entryaddress.stampedaddress.missing', 'directory entryaddress.stampedstore.deleted', 'directory entryaddress.stampedend', 'directory entryaddress.missingaddress.stamped', 'directory entryaddress.missingaddress.missing', 'directory entryaddress.missingstore.deleted', 'directory entryaddress.missingend', 'directory entrystore.deletedaddress.stamped', 'directory entrystore.deletedaddress.missing', 'directory entrystore.deletedend', 'versionbeginchange.made', 'versionbeginchange.made deletion', 'versionbeginversion.applied', 'versionbeginversion.applied from the queue', 'versionbeginversion.ignored', 'versionbeginversion.held', 'versionbegintombstone.made', 'versionchange.madeversion.applied', 'versionchange.madeversion.applied from the queue', 'versionchange.madeversion.ignored', 'versionchange.madeversion.held', 'versionchange.madeitem.expired', 'versionchange.madeend', 'versionchange.made deletiontombstone.made', 'versionversion.appliedversion.applied', 'versionversion.appliedversion.applied from the queue', 'versionversion.appliedversion.ignored', 'versionversion.appliedversion.held', 'versionversion.applieditem.expired', 'versionversion.appliedend', 'versionversion.applied from the queueversion.applied', 'versionversion.applied from the queueversion.applied from the queue', 'versionversion.applied from the queueversion.ignored', 'versionversion.applied from the queueversion.held', 'versionversion.applied from the queueitem.expired', 'versionversion.applied from the queueend', 'versionversion.applied deletionversion.ignored', 'versionversion.applied deletiontombstone.dropped', 'versionversion.applied deletionend', 'versionversion.ignoredversion.applied', 'versionversion.ignoredversion.applied from the queue', 'versionversion.ignoredversion.ignored', 'versionversion.ignoredversion.held', 'versionversion.ignoreditem.expired', 'versionversion.ignoredend', 'versionversion.ignoredtombstone.made', 'versionversion.ignoredtombstone.dropped', 'versionversion.heldversion.applied', 'versionversion.heldversion.applied from the queue', 'versionversion.heldversion.dropped', 'versionversion.heldversion.held', 'versionversion.heldversion.ignored', 'versionversion.heldend', 'versionversion.droppedversion.applied', 'versionversion.droppedversion.applied from the queue', 'versionversion.droppedversion.ignored', 'versionversion.droppedversion.held', 'versionversion.droppeditem.expired', 'versionversion.droppedend', 'versiontombstone.madeversion.applied deletion', 'versiontombstone.madeversion.ignored', 'versiontombstone.madetombstone.dropped', 'versiontombstone.madeend', 'versiontombstone.droppedversion.ignored', 'versiontombstone.droppedtombstone.made', 'versiontombstone.droppedend', 'versionitem.expiredversion.applied', 'versionitem.expiredversion.applied from the queue', 'versionitem.expiredversion.ignored', 'versionitem.expiredversion.held', 'versionitem.expireditem.expired', 'versionitem.expiredend', 'visible folderbeginfolder.shown', 'visible folderbeginfolder.moved', 'visible folderbeginfolder.hidden', 'visible folderfolder.shownfolder.shown', 'visible folderfolder.shownfolder.moved', 'visible folderfolder.shownfolder.hidden', 'visible folderfolder.shownend', 'visible folderfolder.movedfolder.shown', 'visible folderfolder.movedfolder.moved', 'visible folderfolder.movedfolder.hidden', 'visible folderfolder.movedend', 'visible folderfolder.hiddenfolder.shown', 'visible folderfolder.hiddenend', 'contentbegincontent.suspended', 'contentcontent.suspendedcontent.resumed', 'contentcontent.suspendedend', 'contentcontent.resumedcontent.suspended', 'contentcontent.resumedend', 'conflictbeginconflict.arose', 'conflictbeginconflict.notice', 'conflictconflict.aroseconflict.notice', 'conflictconflict.aroseconflict.arose', 'conflictconflict.aroseconflict.ended', 'conflictconflict.aroseend', 'conflictconflict.noticeconflict.notice', 'conflictconflict.noticeconflict.arose', 'conflictconflict.noticeconflict.ended', 'conflictconflict.noticeend', 'conflictconflict.endedconflict.aged', 'conflictconflict.endedconflict.arose', 'conflictconflict.endedconflict.notice', 'conflictconflict.endedend', 'conflictconflict.agedconflict.arose', 'conflictconflict.agedconflict.notice', 'conflictconflict.agedend', 'silent sourcebeginsource.down', 'silent sourcesource.downsource.up', 'silent sourcesource.downsource.down', 'silent sourcesource.downend', 'silent sourcesource.upsource.down', 'silent sourcesource.upend', 'linkbeginlink.down', 'linklink.downlink.up', 'linklink.downlink.down', 'linklink.downend', 'linklink.uplink.down', 'linklink.uplink.up', 'linklink.upend', 'faultbeginfault.injected', 'faultfault.injectedfault.healed', 'faultfault.injectedfault.altered', 'faultfault.injectedend', 'faultfault.alteredfault.altered', 'faultfault.alteredfault.healed', 'faultfault.alteredend', 'faultfault.healedfault.altered', 'faultfault.healedend')), FALSE) OR ((c51 AND (c4 = 'version')) AND coalesce((concat_ws('', c4, 'begin', c32) IN ('copy of a mailbeginhop.sent', 'copy of a mailbeginhop.failed', 'copy of a mailbeginhop.failed for good', 'copy of a mailbeginhop.expired', 'copy of a mailbeginhop.deleted', 'copy of a mailbeginqueue.frozen', 'copy of a mailbeginqueue.unfrozen', 'copy of a mailhop.failedhop.sent', 'copy of a mailhop.failedhop.failed', 'copy of a mailhop.failedhop.failed for good', 'copy of a mailhop.failedhop.expired', 'copy of a mailhop.failedhop.deleted', 'copy of a mailhop.failedqueue.frozen', 'copy of a mailhop.failedqueue.unfrozen', 'copy of a mailhop.failedend', 'copy of a mailhop.failed for goodhop.expired', 'copy of a mailhop.failed for goodend', 'copy of a mailhop.senthop.failed', 'copy of a mailhop.senthop.failed for good', 'copy of a mailhop.senthop.expired', 'copy of a mailhop.senthop.deleted', 'copy of a mailhop.sentqueue.frozen', 'copy of a mailhop.sentqueue.unfrozen', 'copy of a mailhop.sentend', 'copy of a mailhop.expiredhop.sent', 'copy of a mailhop.expiredhop.failed', 'copy of a mailhop.expiredhop.failed for good', 'copy of a mailhop.expiredhop.expired', 'copy of a mailhop.expiredhop.deleted', 'copy of a mailhop.expiredqueue.frozen', 'copy of a mailhop.expiredqueue.unfrozen', 'copy of a mailhop.expiredend', 'copy of a mailhop.deletedend', 'copy of a mailqueue.frozenqueue.unfrozen', 'copy of a mailqueue.frozenhop.sent', 'copy of a mailqueue.frozenhop.failed', 'copy of a mailqueue.frozenhop.failed for good', 'copy of a mailqueue.frozenhop.expired', 'copy of a mailqueue.frozenhop.deleted', 'copy of a mailqueue.frozenend', 'copy of a mailqueue.unfrozenqueue.frozen', 'copy of a mailqueue.unfrozenhop.sent', 'copy of a mailqueue.unfrozenhop.failed', 'copy of a mailqueue.unfrozenhop.failed for good', 'copy of a mailqueue.unfrozenhop.expired', 'copy of a mailqueue.unfrozenhop.deleted', 'copy of a mailqueue.unfrozenend', 'mailbeginmail.submitted', 'mailbeginhop.received', 'mailbeginhop.received here', 'mailmail.submittedhop.sent', 'mailmail.submittedhop.failed', 'mailmail.submittedhop.failed for good', 'mailmail.submittedhop.expired', 'mailmail.submittedhop.deleted', 'mailhop.receivedhop.sent', 'mailhop.receivedhop.failed', 'mailhop.receivedhop.failed for good', 'mailhop.receivedhop.expired', 'mailhop.receivedhop.deleted', 'mailhop.receivedhop.received', 'mailhop.receivedhop.received here', 'mailhop.received herehop.sent', 'mailhop.received herehop.failed', 'mailhop.received herehop.failed for good', 'mailhop.received herehop.expired', 'mailhop.received herehop.deleted', 'mailhop.received herehop.received', 'mailhop.received herehop.received here', 'mailhop.received heremail.received', 'mailhop.received heremail.bad', 'mailhop.senthop.sent', 'mailhop.senthop.failed', 'mailhop.senthop.failed for good', 'mailhop.senthop.expired', 'mailhop.senthop.deleted', 'mailhop.senthop.received', 'mailhop.senthop.received here', 'mailhop.sentmail.received', 'mailhop.sentmail.bad', 'mailhop.sentend', 'mailhop.failedhop.sent', 'mailhop.failedhop.failed', 'mailhop.failedhop.failed for good', 'mailhop.failedhop.expired', 'mailhop.failedhop.deleted', 'mailhop.failedhop.received', 'mailhop.failedhop.received here', 'mailhop.failedmail.received', 'mailhop.failedmail.bad', 'mailhop.failedend', 'mailhop.failed for goodhop.sent', 'mailhop.failed for goodhop.failed', 'mailhop.failed for goodhop.failed for good', 'mailhop.failed for goodhop.expired', 'mailhop.failed for goodhop.deleted', 'mailhop.failed for goodhop.received', 'mailhop.failed for goodhop.received here', 'mailhop.failed for goodmail.received', 'mailhop.failed for goodmail.bad', 'mailhop.failed for goodend', 'mailhop.expiredhop.sent', 'mailhop.expiredhop.failed', 'mailhop.expiredhop.failed for good', 'mailhop.expiredhop.expired', 'mailhop.expiredhop.deleted', 'mailhop.expiredhop.received', 'mailhop.expiredhop.received here', 'mailhop.expiredmail.received', 'mailhop.expiredmail.bad', 'mailhop.expiredend', 'mailhop.deletedhop.sent', 'mailhop.deletedhop.failed', 'mailhop.deletedhop.failed for good', 'mailhop.deletedhop.expired', 'mailhop.deletedhop.deleted', 'mailhop.deletedhop.received', 'mailhop.deletedhop.received here', 'mailhop.deletedmail.received', 'mailhop.deletedmail.bad', 'mailhop.deletedend', 'mailmail.receivedhop.sent', 'mailmail.receivedhop.failed', 'mailmail.receivedhop.failed for good', 'mailmail.receivedhop.expired', 'mailmail.receivedhop.deleted', 'mailmail.receivedhop.received', 'mailmail.receivedhop.received here', 'mailmail.receivedmail.received', 'mailmail.receivedmail.bad', 'mailmail.receivedend', 'mailmail.badhop.sent', 'mailmail.badhop.failed', 'mailmail.badhop.failed for good', 'mailmail.badhop.expired', 'mailmail.badhop.deleted', 'mailmail.badhop.received', 'mailmail.badhop.received here', 'mailmail.badmail.received', 'mailmail.badmail.bad', 'mailmail.badend', 'mail to this storebeginhop.received here', 'mail to this storehop.received heremail.received', 'mail to this storehop.received heremail.bad', 'mail to this storemail.receivedhop.received here', 'mail to this storemail.receivedend', 'mail to this storemail.badhop.received here', 'mail to this storemail.badend', 'entrybeginentry.made', 'entryentry.madeentry.timed_out', 'entryentry.madeentry.satisfied', 'entryentry.madeentry.pruned', 'entryentry.madesources.considered', 'entryentry.madesources.considered in vain', 'entryentry.timed_outsources.considered', 'entryentry.timed_outsources.considered in vain', 'entrysources.consideredrequest.sent', 'entrysources.consideredrequest.deferred', 'entrysources.considered in vainentry.timed_out', 'entrysources.considered in vainentry.satisfied', 'entrysources.considered in vainentry.pruned', 'entrysources.considered in vainsources.considered', 'entrysources.considered in vainsources.considered in vain', 'entrysources.considered in vainrequest.ended satisfied', 'entrysources.considered in vainrequest.ended retry', 'entrysources.considered in vainrequest.ended empty', 'entrysources.considered in vainrequest.ended pruned', 'entrysources.considered in vainrequest.ended expired', 'entryrequest.deferredsources.considered', 'entryrequest.deferredsources.considered in vain', 'entryrequest.deferredentry.satisfied', 'entryrequest.deferredentry.pruned', 'entryrequest.deferredrequest.ended satisfied', 'entryrequest.deferredrequest.ended retry', 'entryrequest.deferredrequest.ended empty', 'entryrequest.deferredrequest.ended pruned', 'entryrequest.deferredrequest.ended expired', 'entryrequest.sentrequest.sent', 'entryrequest.sentrequest.deferred', 'entryrequest.sententry.timed_out', 'entryrequest.sentsources.considered', 'entryrequest.sentsources.considered in vain', 'entryrequest.sententry.pruned', 'entryrequest.sentrequest.ended satisfied', 'entryrequest.sentrequest.ended retry', 'entryrequest.sentrequest.ended empty', 'entryrequest.sentrequest.ended pruned', 'entryrequest.sentrequest.ended expired', 'entryrequest.ended satisfiedentry.timed_out', 'entryrequest.ended satisfiedentry.satisfied', 'entryrequest.ended satisfiedentry.pruned', 'entryrequest.ended satisfiedsources.considered', 'entryrequest.ended satisfiedsources.considered in vain', 'entryrequest.ended satisfiedrequest.ended satisfied', 'entryrequest.ended satisfiedrequest.ended retry', 'entryrequest.ended satisfiedrequest.ended empty', 'entryrequest.ended satisfiedrequest.ended pruned', 'entryrequest.ended satisfiedrequest.ended expired', 'entryrequest.ended retryentry.timed_out', 'entryrequest.ended retryentry.satisfied', 'entryrequest.ended retryentry.pruned', 'entryrequest.ended retrysources.considered', 'entryrequest.ended retrysources.considered in vain', 'entryrequest.ended retryrequest.ended satisfied', 'entryrequest.ended retryrequest.ended retry', 'entryrequest.ended retryrequest.ended empty', 'entryrequest.ended retryrequest.ended pruned', 'entryrequest.ended retryrequest.ended expired', 'entryrequest.ended emptyentry.timed_out', 'entryrequest.ended emptyentry.satisfied', 'entryrequest.ended emptyentry.pruned', 'entryrequest.ended emptysources.considered', 'entryrequest.ended emptysources.considered in vain', 'entryrequest.ended emptyrequest.ended satisfied', 'entryrequest.ended emptyrequest.ended retry', 'entryrequest.ended emptyrequest.ended empty', 'entryrequest.ended emptyrequest.ended pruned', 'entryrequest.ended emptyrequest.ended expired', 'entryrequest.ended prunedentry.timed_out', 'entryrequest.ended prunedentry.satisfied', 'entryrequest.ended prunedentry.pruned', 'entryrequest.ended prunedsources.considered', 'entryrequest.ended prunedsources.considered in vain', 'entryrequest.ended prunedrequest.ended satisfied', 'entryrequest.ended prunedrequest.ended retry', 'entryrequest.ended prunedrequest.ended empty', 'entryrequest.ended prunedrequest.ended pruned', 'entryrequest.ended prunedrequest.ended expired', 'entryrequest.ended prunedend', 'entryrequest.ended expiredentry.timed_out', 'entryrequest.ended expiredentry.satisfied', 'entryrequest.ended expiredentry.pruned', 'entryrequest.ended expiredsources.considered', 'entryrequest.ended expiredsources.considered in vain', 'entryrequest.ended expiredrequest.ended satisfied', 'entryrequest.ended expiredrequest.ended retry', 'entryrequest.ended expiredrequest.ended empty', 'entryrequest.ended expiredrequest.ended pruned', 'entryrequest.ended expiredrequest.ended expired', 'entryentry.prunedentry.timed_out', 'entryentry.prunedentry.satisfied', 'entryentry.prunedentry.pruned', 'entryentry.prunedsources.considered', 'entryentry.prunedsources.considered in vain', 'entryentry.prunedrequest.ended satisfied', 'entryentry.prunedrequest.ended retry', 'entryentry.prunedrequest.ended empty', 'entryentry.prunedrequest.ended pruned', 'entryentry.prunedrequest.ended expired', 'entryentry.prunedend', 'entryentry.satisfiedend', 'nodebeginnode.started', 'nodenode.startednode.stopped', 'nodenode.startednode.started again', 'nodenode.startednode.started restored', 'nodenode.startednode.started', 'nodenode.started againnode.stopped', 'nodenode.started againnode.started again', 'nodenode.started againnode.started restored', 'nodenode.started againnode.started', 'nodenode.started restorednode.stopped', 'nodenode.started restorednode.started again', 'nodenode.started restorednode.started restored', 'nodenode.started restorednode.started', 'nodenode.stoppednode.started again', 'nodenode.stoppednode.started restored', 'nodenode.stoppednode.started', 'nodenode.stoppedend', 'replicabeginreplica.added', 'replicabeginreplica.pending', 'replicabeginreplica.dropped', 'replicareplica.addedreplica.pending', 'replicareplica.addedreplica.dropped', 'replicareplica.addedend', 'replicareplica.pendingreplica.pending', 'replicareplica.pendingreplica.dropped', 'replicareplica.pendingend', 'replicareplica.droppedreplica.added', 'replicareplica.droppedend', 'directory entrybeginaddress.stamped', 'directory entrybeginaddress.missing', 'directory entryaddress.stampedaddress.stamped', 'directory entryaddress.stampedaddress.missing', 'directory entryaddress.stampedstore.deleted', 'directory entryaddress.stampedend', 'directory entryaddress.missingaddress.stamped', 'directory entryaddress.missingaddress.missing', 'directory entryaddress.missingstore.deleted', 'directory entryaddress.missingend', 'directory entrystore.deletedaddress.stamped', 'directory entrystore.deletedaddress.missing', 'directory entrystore.deletedend', 'versionbeginchange.made', 'versionbeginchange.made deletion', 'versionbeginversion.applied', 'versionbeginversion.applied from the queue', 'versionbeginversion.ignored', 'versionbeginversion.held', 'versionbegintombstone.made', 'versionchange.madeversion.applied', 'versionchange.madeversion.applied from the queue', 'versionchange.madeversion.ignored', 'versionchange.madeversion.held', 'versionchange.madeitem.expired', 'versionchange.madeend', 'versionchange.made deletiontombstone.made', 'versionversion.appliedversion.applied', 'versionversion.appliedversion.applied from the queue', 'versionversion.appliedversion.ignored', 'versionversion.appliedversion.held', 'versionversion.applieditem.expired', 'versionversion.appliedend', 'versionversion.applied from the queueversion.applied', 'versionversion.applied from the queueversion.applied from the queue', 'versionversion.applied from the queueversion.ignored', 'versionversion.applied from the queueversion.held', 'versionversion.applied from the queueitem.expired', 'versionversion.applied from the queueend', 'versionversion.applied deletionversion.ignored', 'versionversion.applied deletiontombstone.dropped', 'versionversion.applied deletionend', 'versionversion.ignoredversion.applied', 'versionversion.ignoredversion.applied from the queue', 'versionversion.ignoredversion.ignored', 'versionversion.ignoredversion.held', 'versionversion.ignoreditem.expired', 'versionversion.ignoredend', 'versionversion.ignoredtombstone.made', 'versionversion.ignoredtombstone.dropped', 'versionversion.heldversion.applied', 'versionversion.heldversion.applied from the queue', 'versionversion.heldversion.dropped', 'versionversion.heldversion.held', 'versionversion.heldversion.ignored', 'versionversion.heldend', 'versionversion.droppedversion.applied', 'versionversion.droppedversion.applied from the queue', 'versionversion.droppedversion.ignored', 'versionversion.droppedversion.held', 'versionversion.droppeditem.expired', 'versionversion.droppedend', 'versiontombstone.madeversion.applied deletion', 'versiontombstone.madeversion.ignored', 'versiontombstone.madetombstone.dropped', 'versiontombstone.madeend', 'versiontombstone.droppedversion.ignored', 'versiontombstone.droppedtombstone.made', 'versiontombstone.droppedend', 'versionitem.expiredversion.applied', 'versionitem.expiredversion.applied from the queue', 'versionitem.expiredversion.ignored', 'versionitem.expiredversion.held', 'versionitem.expireditem.expired', 'versionitem.expiredend', 'visible folderbeginfolder.shown', 'visible folderbeginfolder.moved', 'visible folderbeginfolder.hidden', 'visible folderfolder.shownfolder.shown', 'visible folderfolder.shownfolder.moved', 'visible folderfolder.shownfolder.hidden', 'visible folderfolder.shownend', 'visible folderfolder.movedfolder.shown', 'visible folderfolder.movedfolder.moved', 'visible folderfolder.movedfolder.hidden', 'visible folderfolder.movedend', 'visible folderfolder.hiddenfolder.shown', 'visible folderfolder.hiddenend', 'contentbegincontent.suspended', 'contentcontent.suspendedcontent.resumed', 'contentcontent.suspendedend', 'contentcontent.resumedcontent.suspended', 'contentcontent.resumedend', 'conflictbeginconflict.arose', 'conflictbeginconflict.notice', 'conflictconflict.aroseconflict.notice', 'conflictconflict.aroseconflict.arose', 'conflictconflict.aroseconflict.ended', 'conflictconflict.aroseend', 'conflictconflict.noticeconflict.notice', 'conflictconflict.noticeconflict.arose', 'conflictconflict.noticeconflict.ended', 'conflictconflict.noticeend', 'conflictconflict.endedconflict.aged', 'conflictconflict.endedconflict.arose', 'conflictconflict.endedconflict.notice', 'conflictconflict.endedend', 'conflictconflict.agedconflict.arose', 'conflictconflict.agedconflict.notice', 'conflictconflict.agedend', 'silent sourcebeginsource.down', 'silent sourcesource.downsource.up', 'silent sourcesource.downsource.down', 'silent sourcesource.downend', 'silent sourcesource.upsource.down', 'silent sourcesource.upend', 'linkbeginlink.down', 'linklink.downlink.up', 'linklink.downlink.down', 'linklink.downend', 'linklink.uplink.down', 'linklink.uplink.up', 'linklink.upend', 'faultbeginfault.injected', 'faultfault.injectedfault.healed', 'faultfault.injectedfault.altered', 'faultfault.injectedend', 'faultfault.alteredfault.altered', 'faultfault.alteredfault.healed', 'faultfault.alteredend', 'faultfault.healedfault.altered', 'faultfault.healedend')), FALSE))) AS c56, ((coalesce(c38, FALSE) OR ((c4 = 'mail') AND (NOT coalesce((c14 <= c39), FALSE)))) OR coalesce((concat_ws('', c4, c32, c55) IN ('copy of a mailbeginhop.sent', 'copy of a mailbeginhop.failed', 'copy of a mailbeginhop.failed for good', 'copy of a mailbeginhop.expired', 'copy of a mailbeginhop.deleted', 'copy of a mailbeginqueue.frozen', 'copy of a mailbeginqueue.unfrozen', 'copy of a mailhop.failedhop.sent', 'copy of a mailhop.failedhop.failed', 'copy of a mailhop.failedhop.failed for good', 'copy of a mailhop.failedhop.expired', 'copy of a mailhop.failedhop.deleted', 'copy of a mailhop.failedqueue.frozen', 'copy of a mailhop.failedqueue.unfrozen', 'copy of a mailhop.failedend', 'copy of a mailhop.failed for goodhop.expired', 'copy of a mailhop.failed for goodend', 'copy of a mailhop.senthop.failed', 'copy of a mailhop.senthop.failed for good', 'copy of a mailhop.senthop.expired', 'copy of a mailhop.senthop.deleted', 'copy of a mailhop.sentqueue.frozen', 'copy of a mailhop.sentqueue.unfrozen', 'copy of a mailhop.sentend', 'copy of a mailhop.expiredhop.sent', 'copy of a mailhop.expiredhop.failed', 'copy of a mailhop.expiredhop.failed for good', 'copy of a mailhop.expiredhop.expired', 'copy of a mailhop.expiredhop.deleted', 'copy of a mailhop.expiredqueue.frozen', 'copy of a mailhop.expiredqueue.unfrozen', 'copy of a mailhop.expiredend', 'copy of a mailhop.deletedend', 'copy of a mailqueue.frozenqueue.unfrozen', 'copy of a mailqueue.frozenhop.sent', 'copy of a mailqueue.frozenhop.failed', 'copy of a mailqueue.frozenhop.failed for good', 'copy of a mailqueue.frozenhop.expired', 'copy of a mailqueue.frozenhop.deleted', 'copy of a mailqueue.frozenend', 'copy of a mailqueue.unfrozenqueue.frozen', 'copy of a mailqueue.unfrozenhop.sent', 'copy of a mailqueue.unfrozenhop.failed', 'copy of a mailqueue.unfrozenhop.failed for good', 'copy of a mailqueue.unfrozenhop.expired', 'copy of a mailqueue.unfrozenhop.deleted', 'copy of a mailqueue.unfrozenend', 'mailbeginmail.submitted', 'mailbeginhop.received', 'mailbeginhop.received here', 'mailmail.submittedhop.sent', 'mailmail.submittedhop.failed', 'mailmail.submittedhop.failed for good', 'mailmail.submittedhop.expired', 'mailmail.submittedhop.deleted', 'mailhop.receivedhop.sent', 'mailhop.receivedhop.failed', 'mailhop.receivedhop.failed for good', 'mailhop.receivedhop.expired', 'mailhop.receivedhop.deleted', 'mailhop.receivedhop.received', 'mailhop.receivedhop.received here', 'mailhop.received herehop.sent', 'mailhop.received herehop.failed', 'mailhop.received herehop.failed for good', 'mailhop.received herehop.expired', 'mailhop.received herehop.deleted', 'mailhop.received herehop.received', 'mailhop.received herehop.received here', 'mailhop.received heremail.received', 'mailhop.received heremail.bad', 'mailhop.senthop.sent', 'mailhop.senthop.failed', 'mailhop.senthop.failed for good', 'mailhop.senthop.expired', 'mailhop.senthop.deleted', 'mailhop.senthop.received', 'mailhop.senthop.received here', 'mailhop.sentmail.received', 'mailhop.sentmail.bad', 'mailhop.sentend', 'mailhop.failedhop.sent', 'mailhop.failedhop.failed', 'mailhop.failedhop.failed for good', 'mailhop.failedhop.expired', 'mailhop.failedhop.deleted', 'mailhop.failedhop.received', 'mailhop.failedhop.received here', 'mailhop.failedmail.received', 'mailhop.failedmail.bad', 'mailhop.failedend', 'mailhop.failed for goodhop.sent', 'mailhop.failed for goodhop.failed', 'mailhop.failed for goodhop.failed for good', 'mailhop.failed for goodhop.expired', 'mailhop.failed for goodhop.deleted', 'mailhop.failed for goodhop.received', 'mailhop.failed for goodhop.received here', 'mailhop.failed for goodmail.received', 'mailhop.failed for goodmail.bad', 'mailhop.failed for goodend', 'mailhop.expiredhop.sent', 'mailhop.expiredhop.failed', 'mailhop.expiredhop.failed for good', 'mailhop.expiredhop.expired', 'mailhop.expiredhop.deleted', 'mailhop.expiredhop.received', 'mailhop.expiredhop.received here', 'mailhop.expiredmail.received', 'mailhop.expiredmail.bad', 'mailhop.expiredend', 'mailhop.deletedhop.sent', 'mailhop.deletedhop.failed', 'mailhop.deletedhop.failed for good', 'mailhop.deletedhop.expired', 'mailhop.deletedhop.deleted', 'mailhop.deletedhop.received', 'mailhop.deletedhop.received here', 'mailhop.deletedmail.received', 'mailhop.deletedmail.bad', 'mailhop.deletedend', 'mailmail.receivedhop.sent', 'mailmail.receivedhop.failed', 'mailmail.receivedhop.failed for good', 'mailmail.receivedhop.expired', 'mailmail.receivedhop.deleted', 'mailmail.receivedhop.received', 'mailmail.receivedhop.received here', 'mailmail.receivedmail.received', 'mailmail.receivedmail.bad', 'mailmail.receivedend', 'mailmail.badhop.sent', 'mailmail.badhop.failed', 'mailmail.badhop.failed for good', 'mailmail.badhop.expired', 'mailmail.badhop.deleted', 'mailmail.badhop.received', 'mailmail.badhop.received here', 'mailmail.badmail.received', 'mailmail.badmail.bad', 'mailmail.badend', 'mail to this storebeginhop.received here', 'mail to this storehop.received heremail.received', 'mail to this storehop.received heremail.bad', 'mail to this storemail.receivedhop.received here', 'mail to this storemail.receivedend', 'mail to this storemail.badhop.received here', 'mail to this storemail.badend', 'entrybeginentry.made', 'entryentry.madeentry.timed_out', 'entryentry.madeentry.satisfied', 'entryentry.madeentry.pruned', 'entryentry.madesources.considered', 'entryentry.madesources.considered in vain', 'entryentry.timed_outsources.considered', 'entryentry.timed_outsources.considered in vain', 'entrysources.consideredrequest.sent', 'entrysources.consideredrequest.deferred', 'entrysources.considered in vainentry.timed_out', 'entrysources.considered in vainentry.satisfied', 'entrysources.considered in vainentry.pruned', 'entrysources.considered in vainsources.considered', 'entrysources.considered in vainsources.considered in vain', 'entrysources.considered in vainrequest.ended satisfied', 'entrysources.considered in vainrequest.ended retry', 'entrysources.considered in vainrequest.ended empty', 'entrysources.considered in vainrequest.ended pruned', 'entrysources.considered in vainrequest.ended expired', 'entryrequest.deferredsources.considered', 'entryrequest.deferredsources.considered in vain', 'entryrequest.deferredentry.satisfied', 'entryrequest.deferredentry.pruned', 'entryrequest.deferredrequest.ended satisfied', 'entryrequest.deferredrequest.ended retry', 'entryrequest.deferredrequest.ended empty', 'entryrequest.deferredrequest.ended pruned', 'entryrequest.deferredrequest.ended expired', 'entryrequest.sentrequest.sent', 'entryrequest.sentrequest.deferred', 'entryrequest.sententry.timed_out', 'entryrequest.sentsources.considered', 'entryrequest.sentsources.considered in vain', 'entryrequest.sententry.pruned', 'entryrequest.sentrequest.ended satisfied', 'entryrequest.sentrequest.ended retry', 'entryrequest.sentrequest.ended empty', 'entryrequest.sentrequest.ended pruned', 'entryrequest.sentrequest.ended expired', 'entryrequest.ended satisfiedentry.timed_out', 'entryrequest.ended satisfiedentry.satisfied', 'entryrequest.ended satisfiedentry.pruned', 'entryrequest.ended satisfiedsources.considered', 'entryrequest.ended satisfiedsources.considered in vain', 'entryrequest.ended satisfiedrequest.ended satisfied', 'entryrequest.ended satisfiedrequest.ended retry', 'entryrequest.ended satisfiedrequest.ended empty', 'entryrequest.ended satisfiedrequest.ended pruned', 'entryrequest.ended satisfiedrequest.ended expired', 'entryrequest.ended retryentry.timed_out', 'entryrequest.ended retryentry.satisfied', 'entryrequest.ended retryentry.pruned', 'entryrequest.ended retrysources.considered', 'entryrequest.ended retrysources.considered in vain', 'entryrequest.ended retryrequest.ended satisfied', 'entryrequest.ended retryrequest.ended retry', 'entryrequest.ended retryrequest.ended empty', 'entryrequest.ended retryrequest.ended pruned', 'entryrequest.ended retryrequest.ended expired', 'entryrequest.ended emptyentry.timed_out', 'entryrequest.ended emptyentry.satisfied', 'entryrequest.ended emptyentry.pruned', 'entryrequest.ended emptysources.considered', 'entryrequest.ended emptysources.considered in vain', 'entryrequest.ended emptyrequest.ended satisfied', 'entryrequest.ended emptyrequest.ended retry', 'entryrequest.ended emptyrequest.ended empty', 'entryrequest.ended emptyrequest.ended pruned', 'entryrequest.ended emptyrequest.ended expired', 'entryrequest.ended prunedentry.timed_out', 'entryrequest.ended prunedentry.satisfied', 'entryrequest.ended prunedentry.pruned', 'entryrequest.ended prunedsources.considered', 'entryrequest.ended prunedsources.considered in vain', 'entryrequest.ended prunedrequest.ended satisfied', 'entryrequest.ended prunedrequest.ended retry', 'entryrequest.ended prunedrequest.ended empty', 'entryrequest.ended prunedrequest.ended pruned', 'entryrequest.ended prunedrequest.ended expired', 'entryrequest.ended prunedend', 'entryrequest.ended expiredentry.timed_out', 'entryrequest.ended expiredentry.satisfied', 'entryrequest.ended expiredentry.pruned', 'entryrequest.ended expiredsources.considered', 'entryrequest.ended expiredsources.considered in vain', 'entryrequest.ended expiredrequest.ended satisfied', 'entryrequest.ended expiredrequest.ended retry', 'entryrequest.ended expiredrequest.ended empty', 'entryrequest.ended expiredrequest.ended pruned', 'entryrequest.ended expiredrequest.ended expired', 'entryentry.prunedentry.timed_out', 'entryentry.prunedentry.satisfied', 'entryentry.prunedentry.pruned', 'entryentry.prunedsources.considered', 'entryentry.prunedsources.considered in vain', 'entryentry.prunedrequest.ended satisfied', 'entryentry.prunedrequest.ended retry', 'entryentry.prunedrequest.ended empty', 'entryentry.prunedrequest.ended pruned', 'entryentry.prunedrequest.ended expired', 'entryentry.prunedend', 'entryentry.satisfiedend', 'nodebeginnode.started', 'nodenode.startednode.stopped', 'nodenode.startednode.started again', 'nodenode.startednode.started restored', 'nodenode.startednode.started', 'nodenode.started againnode.stopped', 'nodenode.started againnode.started again', 'nodenode.started againnode.started restored', 'nodenode.started againnode.started', 'nodenode.started restorednode.stopped', 'nodenode.started restorednode.started again', 'nodenode.started restorednode.started restored', 'nodenode.started restorednode.started', 'nodenode.stoppednode.started again', 'nodenode.stoppednode.started restored', 'nodenode.stoppednode.started', 'nodenode.stoppedend', 'replicabeginreplica.added', 'replicabeginreplica.pending', 'replicabeginreplica.dropped', 'replicareplica.addedreplica.pending', 'replicareplica.addedreplica.dropped', 'replicareplica.addedend', 'replicareplica.pendingreplica.pending', 'replicareplica.pendingreplica.dropped', 'replicareplica.pendingend', 'replicareplica.droppedreplica.added', 'replicareplica.droppedend', 'directory entrybeginaddress.stamped', 'directory entrybeginaddress.missing', 'directory entryaddress.stampedaddress.stamped', 'directory entryaddress.stampedaddress.missing', 'directory entryaddress.stampedstore.deleted', 'directory entryaddress.stampedend', 'directory entryaddress.missingaddress.stamped', 'directory entryaddress.missingaddress.missing', 'directory entryaddress.missingstore.deleted', 'directory entryaddress.missingend', 'directory entrystore.deletedaddress.stamped', 'directory entrystore.deletedaddress.missing', 'directory entrystore.deletedend', 'versionbeginchange.made', 'versionbeginchange.made deletion', 'versionbeginversion.applied', 'versionbeginversion.applied from the queue', 'versionbeginversion.ignored', 'versionbeginversion.held', 'versionbegintombstone.made', 'versionchange.madeversion.applied', 'versionchange.madeversion.applied from the queue', 'versionchange.madeversion.ignored', 'versionchange.madeversion.held', 'versionchange.madeitem.expired', 'versionchange.madeend', 'versionchange.made deletiontombstone.made', 'versionversion.appliedversion.applied', 'versionversion.appliedversion.applied from the queue', 'versionversion.appliedversion.ignored', 'versionversion.appliedversion.held', 'versionversion.applieditem.expired', 'versionversion.appliedend', 'versionversion.applied from the queueversion.applied', 'versionversion.applied from the queueversion.applied from the queue', 'versionversion.applied from the queueversion.ignored', 'versionversion.applied from the queueversion.held', 'versionversion.applied from the queueitem.expired', 'versionversion.applied from the queueend', 'versionversion.applied deletionversion.ignored', 'versionversion.applied deletiontombstone.dropped', 'versionversion.applied deletionend', 'versionversion.ignoredversion.applied', 'versionversion.ignoredversion.applied from the queue', 'versionversion.ignoredversion.ignored', 'versionversion.ignoredversion.held', 'versionversion.ignoreditem.expired', 'versionversion.ignoredend', 'versionversion.ignoredtombstone.made', 'versionversion.ignoredtombstone.dropped', 'versionversion.heldversion.applied', 'versionversion.heldversion.applied from the queue', 'versionversion.heldversion.dropped', 'versionversion.heldversion.held', 'versionversion.heldversion.ignored', 'versionversion.heldend', 'versionversion.droppedversion.applied', 'versionversion.droppedversion.applied from the queue', 'versionversion.droppedversion.ignored', 'versionversion.droppedversion.held', 'versionversion.droppeditem.expired', 'versionversion.droppedend', 'versiontombstone.madeversion.applied deletion', 'versiontombstone.madeversion.ignored', 'versiontombstone.madetombstone.dropped', 'versiontombstone.madeend', 'versiontombstone.droppedversion.ignored', 'versiontombstone.droppedtombstone.made', 'versiontombstone.droppedend', 'versionitem.expiredversion.applied', 'versionitem.expiredversion.applied from the queue', 'versionitem.expiredversion.ignored', 'versionitem.expiredversion.held', 'versionitem.expireditem.expired', 'versionitem.expiredend', 'visible folderbeginfolder.shown', 'visible folderbeginfolder.moved', 'visible folderbeginfolder.hidden', 'visible folderfolder.shownfolder.shown', 'visible folderfolder.shownfolder.moved', 'visible folderfolder.shownfolder.hidden', 'visible folderfolder.shownend', 'visible folderfolder.movedfolder.shown', 'visible folderfolder.movedfolder.moved', 'visible folderfolder.movedfolder.hidden', 'visible folderfolder.movedend', 'visible folderfolder.hiddenfolder.shown', 'visible folderfolder.hiddenend', 'contentbegincontent.suspended', 'contentcontent.suspendedcontent.resumed', 'contentcontent.suspendedend', 'contentcontent.resumedcontent.suspended', 'contentcontent.resumedend', 'conflictbeginconflict.arose', 'conflictbeginconflict.notice', 'conflictconflict.aroseconflict.notice', 'conflictconflict.aroseconflict.arose', 'conflictconflict.aroseconflict.ended', 'conflictconflict.aroseend', 'conflictconflict.noticeconflict.notice', 'conflictconflict.noticeconflict.arose', 'conflictconflict.noticeconflict.ended', 'conflictconflict.noticeend', 'conflictconflict.endedconflict.aged', 'conflictconflict.endedconflict.arose', 'conflictconflict.endedconflict.notice', 'conflictconflict.endedend', 'conflictconflict.agedconflict.arose', 'conflictconflict.agedconflict.notice', 'conflictconflict.agedend', 'silent sourcebeginsource.down', 'silent sourcesource.downsource.up', 'silent sourcesource.downsource.down', 'silent sourcesource.downend', 'silent sourcesource.upsource.down', 'silent sourcesource.upend', 'linkbeginlink.down', 'linklink.downlink.up', 'linklink.downlink.down', 'linklink.downend', 'linklink.uplink.down', 'linklink.uplink.up', 'linklink.upend', 'faultbeginfault.injected', 'faultfault.injectedfault.healed', 'faultfault.injectedfault.altered', 'faultfault.injectedend', 'faultfault.alteredfault.altered', 'faultfault.alteredfault.healed', 'faultfault.alteredend', 'faultfault.healedfault.altered', 'faultfault.healedend')), FALSE)) AS c57 FROM 
(SELECT c12, c13, c4, c14, c32, c38, c39, c51, c53, c55 FROM 
(SELECT c12, c13, c4, c14, c32, c38, c39, c51, c53, coalesce(c54, 'end') AS c55 FROM 
(SELECT *, lead(c32, 1, NULL) OVER (PARTITION BY c12, c13, c4, c8 ORDER BY c7 ASC NULLS FIRST ROWS BETWEEN 1 FOLLOWING AND 1 FOLLOWING) AS c54 FROM 
(SELECT c12, c13, c4, c7, c14, c32, c8, c38, c39, c51, c53 FROM 
(SELECT c12, c13, c4, c7, c14, c32, c8, c38, c39, c51, c53 FROM 
(SELECT c12, c13, c4, c7, c14, c32, c8, c38, c39, c51, coalesce(c52, 'begin') AS c53 FROM 
(SELECT *, lag(c32, 1, NULL) OVER (PARTITION BY c12, c13, c4, c8 ORDER BY c7 ASC NULLS FIRST ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING) AS c52 FROM 
(SELECT c12, c13, c4, c7, c14, c32, c8, c38, c39, c51 FROM 
(SELECT c12, c13, c4, c7, c14, c32, c8, c38, c39, c51 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c12, c13, c4, c7, c14, c32, c22, c8, c38, c39 FROM 
(SELECT c12, c13, c4, c7, c14, c32, c22, c8, c38, c39, c3 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c12, c13, c7, c14, c32, c22, c4, c8, c38, c39 FROM 
(SELECT c12, c13, c7, c14, c32, c22, c4, c8, c38, c39, c6 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c12, c13, c7, c14, c32, c22, (c9)."life" AS c4, list_item(c34, (c9)."key") AS c8 FROM 
(SELECT c12, c13, c7, c14, concat_ws(' ', c11, CASE WHEN (c11 = 'hop.received') THEN CASE WHEN list_any(list_transform(c20, lambda v33: (v33 LIKE (c13 || '-IS@%') ESCAPE '\'))) THEN 'here' ELSE CAST(NULL AS VARCHAR) END WHEN (c11 = 'hop.failed') THEN CASE WHEN (c26 IS NULL) THEN 'for good' ELSE CAST(NULL AS VARCHAR) END WHEN (c11 = 'node.started') THEN CASE WHEN (c16 = 'restart') THEN 'again' ELSE CASE WHEN (c16 = 'restored') THEN 'restored' ELSE CAST(NULL AS VARCHAR) END END WHEN (c11 = 'request.ended') THEN c17 WHEN (c11 = 'sources.considered') THEN CASE WHEN (coalesce(len(c31)::INTEGER, -1) = 0) THEN 'in vain' ELSE CAST(NULL AS VARCHAR) END WHEN (c11 = 'version.applied') THEN CASE WHEN c29 THEN 'deletion' ELSE CASE WHEN (c28 = 'queue') THEN 'from the queue' ELSE CAST(NULL AS VARCHAR) END END WHEN (c11 = 'change.made') THEN CASE WHEN (c27 = 'delete') THEN 'deletion' ELSE CAST(NULL AS VARCHAR) END END) AS c32, c22, [c24, (CASE WHEN (c25 = text_to_bigint('0')) THEN CAST(NULL AS BIGINT) ELSE c25 END)::VARCHAR, (c30)::VARCHAR, c19, c22, CASE WHEN ((c11 LIKE 'mail.%' ESCAPE '\') OR list_any(list_transform(c20, lambda v35: (v35 LIKE (c13 || '-IS@%') ESCAPE '\')))) THEN CASE WHEN regexp_matches(c15, '^[0-9]+[.][0-9a-f]{12}@') THEN c15 ELSE CAST(NULL AS VARCHAR) END ELSE CAST(NULL AS VARCHAR) END, c13, c23, CASE WHEN regexp_matches(c15, '^[0-9]+[.][0-9a-f]{12}@') THEN c15 ELSE CAST(NULL AS VARCHAR) END, c18, c21] AS c34, c9 FROM 
(SELECT * EXCLUDE (uc9), uc9 AS c9 FROM (SELECT *, unnest(map_extract_value(list_from_json('{"hop.deleted": [{"life": "copy of a mail", "key": 1}, {"life": "mail", "key": 8}], "hop.expired": [{"life": "copy of a mail", "key": 1}, {"life": "mail", "key": 8}], "hop.failed": [{"life": "copy of a mail", "key": 1}, {"life": "mail", "key": 8}], "hop.sent": [{"life": "copy of a mail", "key": 1}, {"life": "mail", "key": 8}], "queue.frozen": [{"life": "copy of a mail", "key": 1}], "queue.unfrozen": [{"life": "copy of a mail", "key": 1}], "hop.received": [{"life": "mail", "key": 8}, {"life": "mail to this store", "key": 5}], "mail.bad": [{"life": "mail", "key": 8}, {"life": "mail to this store", "key": 5}], "mail.received": [{"life": "mail", "key": 8}, {"life": "mail to this store", "key": 5}], "mail.submitted": [{"life": "mail", "key": 8}], "entry.made": [{"life": "entry", "key": 2}], "entry.pruned": [{"life": "entry", "key": 2}], "entry.satisfied": [{"life": "entry", "key": 2}], "entry.timed_out": [{"life": "entry", "key": 2}], "request.deferred": [{"life": "entry", "key": 2}], "request.ended": [{"life": "entry", "key": 2}], "request.sent": [{"life": "entry", "key": 2}], "sources.considered": [{"life": "entry", "key": 2}], "node.started": [{"life": "node", "key": 6}], "node.stopped": [{"life": "node", "key": 6}], "replica.added": [{"life": "replica", "key": 4}], "replica.dropped": [{"life": "replica", "key": 4}], "replica.pending": [{"life": "replica", "key": 4}], "address.missing": [{"life": "directory entry", "key": 9}], "address.stamped": [{"life": "directory entry", "key": 9}], "store.deleted": [{"life": "directory entry", "key": 9}], "change.made": [{"life": "version", "key": 10}], "item.expired": [{"life": "version", "key": 10}], "tombstone.dropped": [{"life": "version", "key": 10}], "tombstone.made": [{"life": "version", "key": 10}], "version.applied": [{"life": "version", "key": 10}], "version.dropped": [{"life": "version", "key": 10}], "version.held": [{"life": "version", "key": 10}], "version.ignored": [{"life": "version", "key": 10}], "folder.hidden": [{"life": "visible folder", "key": 4}], "folder.moved": [{"life": "visible folder", "key": 4}], "folder.shown": [{"life": "visible folder", "key": 4}], "content.resumed": [{"life": "content", "key": 6}], "content.suspended": [{"life": "content", "key": 6}], "conflict.aged": [{"life": "conflict", "key": 7}], "conflict.arose": [{"life": "conflict", "key": 7}], "conflict.ended": [{"life": "conflict", "key": 7}], "conflict.notice": [{"life": "conflict", "key": 7}], "source.down": [{"life": "silent source", "key": 9}], "source.up": [{"life": "silent source", "key": 9}], "link.down": [{"life": "link", "key": 0}], "link.up": [{"life": "link", "key": 0}], "fault.altered": [{"life": "fault", "key": 3}], "fault.healed": [{"life": "fault", "key": 3}], "fault.injected": [{"life": "fault", "key": 3}]}', '"MAP(VARCHAR, STRUCT(\"life\" VARCHAR, \"key\" INTEGER)[])"'), c11)) AS uc9 FROM 
(SELECT "trace" AS c12, "node" AS c13, "type" AS c11, "seq" AS c7, "at" AS c14, "mail" AS c15, "reason" AS c16, "how" AS c17, "store" AS c18, "fault" AS c19, "recipients" AS c20, "number" AS c21, "folder" AS c22, "object" AS c23, "connector" AS c24, "queue_id" AS c25, "retry_at" AS c26, "operation" AS c27, "way" AS c28, "deleted" AS c29, "entry" AS c30, "chosen" AS c31, "family" AS c10 FROM "silver/events") WHERE ((c10 IN ('change', 'mail', 'replication', 'run')) AND (c11 IN ('address.missing', 'address.stamped', 'change.made', 'conflict.aged', 'conflict.arose', 'conflict.ended', 'conflict.notice', 'content.resumed', 'content.suspended', 'entry.made', 'entry.pruned', 'entry.satisfied', 'entry.timed_out', 'fault.altered', 'fault.healed', 'fault.injected', 'folder.hidden', 'folder.moved', 'folder.shown', 'hop.deleted', 'hop.expired', 'hop.failed', 'hop.received', 'hop.sent', 'item.expired', 'link.down', 'link.up', 'mail.bad', 'mail.received', 'mail.submitted', 'node.started', 'node.stopped', 'queue.frozen', 'queue.unfrozen', 'replica.added', 'replica.dropped', 'replica.pending', 'request.deferred', 'request.ended', 'request.sent', 'source.down', 'source.up', 'sources.considered', 'store.deleted', 'tombstone.dropped', 'tombstone.made', 'version.applied', 'version.dropped', 'version.held', 'version.ignored'))))))) WHERE (c8 IS NOT NULL)) LEFT JOIN 
(SELECT * FROM 
(SELECT "trace" AS c36, "node" AS c37, "gone" AS c38, "sent_until" AS c39, "undone_spans" AS c6 FROM "evidence/nodes")) ON ((c12 = c36) AND (c13 = c37)))) WHERE ((c4 = 'node') OR (NOT coalesce(list_any(list_transform(c6, lambda v5: ((c7 > (v5)."after") AND (c7 < (v5)."before")))), FALSE))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c40, c41, 'directory entry' AS c45, TRUE AS c3 FROM 
(SELECT DISTINCT c40, c41 FROM 
(SELECT c40, c44 AS c41 FROM 
(SELECT c40, c44 FROM 
(SELECT "trace" AS c40, "type" AS c43, "store" AS c44, "family" AS c42 FROM "silver/events") WHERE ((c42 IN ('run')) AND (c43 IN ('backup.elsewhere')))))))) ON (((c12 = c40) AND (c13 = c41)) AND (c4 = c45)))) WHERE (c3 IS NULL))) LEFT JOIN 
(SELECT * FROM 
(SELECT c46, c47, c48, TRUE AS c51 FROM 
(SELECT DISTINCT c46, c47, c48 FROM 
(SELECT c46, c47, c48 FROM 
(SELECT c46, c47, c48 FROM 
(SELECT "trace" AS c46, "node" AS c47, "type" AS c50, "folder" AS c48, "family" AS c49 FROM "silver/events") WHERE ((c49 IN ('replication')) AND (c50 IN ('replica.dropped')))))))) ON (((c12 = c46) AND (c13 = c47)) AND (c22 = c48)))))))))))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c58, (TRUE AND min((c59 = 'converged'))) AS c60 FROM 
(SELECT "trace" AS c58, "judgement" AS c59 FROM "gold/verdicts") GROUP BY c58)) ON (c12 = c58)))) GROUP BY c12))))) WHERE (c1 > (0)::BIGINT));

-- table rules/clocks
-- columns "trace" VARCHAR, "check" VARCHAR, "consumed" BIGINT, "violations" BIGINT, "at" BIGINT, "witness" VARCHAR
SELECT c3 AS "trace", c25 AS "check", c1 AS "consumed", c26 AS "violations", c27 AS "at", c28 AS "witness" FROM (SELECT * FROM 
(SELECT c3, (c2)."check" AS c25, (c2)."consumed" AS c1, (c2)."violations" AS c26, (c2)."at" AS c27, (c2)."witness" AS c28 FROM 
(SELECT c3, c2 FROM 
(SELECT * EXCLUDE (uc2), uc2 AS c2 FROM (SELECT *, unnest([{'check': 'lab time never goes back', 'consumed': c19, 'violations': c20, 'at': (c21)."at", 'witness': (c21)."words"}, {'check': 'Lamport numbers have no gap', 'consumed': c22, 'violations': c23, 'at': (c24)."at", 'witness': (c24)."words"}]) AS uc2 FROM 
(SELECT c3, count(1) FILTER (WHERE c13) AS c19, count(1) FILTER (WHERE c14) AS c20, arg_min(CASE WHEN c14 THEN {'at': c12, 'words': c15} END, CASE WHEN c14 THEN {n0: c12 IS NOT NULL, v0: c12, n1: c15 IS NOT NULL, v1: c15} END) AS c21, count(1) FILTER (WHERE c16) AS c22, count(1) FILTER (WHERE c17) AS c23, arg_min(CASE WHEN c17 THEN {'at': c12, 'words': c18} END, CASE WHEN c17 THEN {n0: c12 IS NOT NULL, v0: c12, n1: c18 IS NOT NULL, v1: c18} END) AS c24 FROM 
(SELECT c3, c8 AS c12, coalesce((c10 IS NOT NULL), FALSE) AS c13, CASE WHEN coalesce((c10 IS NOT NULL), FALSE) THEN (NOT coalesce((c8 >= c10), FALSE)) ELSE FALSE END AS c14, CASE WHEN CASE WHEN coalesce((c10 IS NOT NULL), FALSE) THEN (NOT coalesce((c8 >= c10), FALSE)) ELSE FALSE END THEN ('the time of ' || c4 || ' went back at event ' || (c6)::VARCHAR) END AS c15, coalesce((c11 IS NOT NULL), FALSE) AS c16, CASE WHEN coalesce((c11 IS NOT NULL), FALSE) THEN (NOT coalesce(((c7 = add_wrapped(c11, (1)::BIGINT)) OR ((c7 > c11) AND ((c6 > add_wrapped(c9, (1)::BIGINT)) OR (c5 IN ('hop.received', 'hop.dropped', 'mail.received', 'link.down', 'link.up'))))), FALSE)) ELSE FALSE END AS c17, CASE WHEN CASE WHEN coalesce((c11 IS NOT NULL), FALSE) THEN (NOT coalesce(((c7 = add_wrapped(c11, (1)::BIGINT)) OR ((c7 > c11) AND ((c6 > add_wrapped(c9, (1)::BIGINT)) OR (c5 IN ('hop.received', 'hop.dropped', 'mail.received', 'link.down', 'link.up'))))), FALSE)) ELSE FALSE END THEN ('the Lamport number of ' || c4 || ' went from ' || (c11)::VARCHAR || ' to ' || (c7)::VARCHAR || ' at event ' || (c6)::VARCHAR) END AS c18 FROM 
(SELECT c3, c4, c6, c8, c7, c5, c9, c10, c11 FROM 
(SELECT c3, c4, c6, c8, c7, c5, c9, c10, c11, c9, c10, c11 FROM 
(SELECT *, lag(c6, 1, NULL) OVER (PARTITION BY c3, c4 ORDER BY c6 ASC NULLS FIRST ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING) AS c9, lag(c8, 1, NULL) OVER (PARTITION BY c3, c4 ORDER BY c6 ASC NULLS FIRST ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING) AS c10, lag(c7, 1, NULL) OVER (PARTITION BY c3, c4 ORDER BY c6 ASC NULLS FIRST ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING) AS c11 FROM 
(SELECT c3, c4, c6, c8, c7, c5 FROM 
(SELECT c3, c4, c6, c8, c7, c5 FROM 
(SELECT "trace" AS c3, "node" AS c4, "type" AS c5, "seq" AS c6, "lamport" AS c7, "at" AS c8 FROM "silver/events"))))))) GROUP BY c3))))) WHERE (c1 > (0)::BIGINT));

-- table gold/losses
-- columns "trace" VARCHAR, "folder" VARCHAR, "path" VARCHAR, "object" VARCHAR, "subject" VARCHAR, "number" VARCHAR
SELECT c2 AS "trace", c3 AS "folder", c9 AS "path", c4 AS "object", c5 AS "subject", c1 AS "number" FROM (SELECT c2, c3, c9, c4, c5, c1 FROM 
(SELECT * EXCLUDE (uc1), uc1 AS c1 FROM (SELECT *, unnest(c6) AS uc1 FROM 
(SELECT c2, c3, c4, c5, c6, c9 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT "trace" AS c2, "folder" AS c3, "object" AS c4, "subject" AS c5, "lost" AS c6 FROM "evidence/objects")) JOIN 
(SELECT * FROM 
(SELECT c7, c8, c9 FROM 
(SELECT "trace" AS c7, "folder" AS c8, "path" AS c9 FROM "evidence/folders"))) ON ((c2 = c7) AND (c3 = c8)))))));

-- table evidence/differences
-- columns "trace" VARCHAR, "guid" VARCHAR, "folder" VARCHAR, "path" VARCHAR, "store" VARCHAR, "what" VARCHAR, "kind" VARCHAR, "low" BIGINT, "high" BIGINT, "subject" VARCHAR, "nth" INTEGER, "all" BIGINT, "name" VARCHAR
SELECT c2 AS "trace", c16 AS "guid", c3 AS "folder", c5 AS "path", c4 AS "store", c8 AS "what", c6 AS "kind", c20 AS "low", c21 AS "high", c22 AS "subject", c1 AS "nth", c23 AS "all", c26 AS "name" FROM (SELECT c2, c16, c3, c5, c4, c8, c6, c20, c21, c22, c1, c23, c26 FROM 
(SELECT c2, c16, c3, c5, c4, c8, c6, c20, c21, c22, c1, c23, c26 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c2, c3, c5, c4, c8, c6, c16, c20, c21, c22, c1, c23 FROM 
(SELECT c2, c3, c5, c4, c8, c6, c16, c20, c21, c22, c1, c23, c23 FROM 
(SELECT *, count(1) OVER (PARTITION BY c2, c3) AS c23 FROM 
(SELECT c2, c3, c5, c4, c8, c6, c16, c20, c21, c22, c1 FROM 
(SELECT c2, c3, c5, c4, c8, c6, c16, c20, c21, c22, c1 FROM 
(SELECT c2, c3, c5, c4, c8, c6, c16, c20, c21, c22, c1, c1 FROM 
(SELECT *, row_number() OVER (PARTITION BY c2, c3 ORDER BY c4 ASC NULLS FIRST, c8 ASC NULLS FIRST, c16 ASC NULLS FIRST, c20 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS c1 FROM 
(SELECT c2, c3, c5, c4, c8, c6, c16, c20, c21, c22 FROM 
(SELECT c2, c3, c5, c4, c8, c6, c16, min(c17) AS c20, max(c17) AS c21, arg_min_null(c7, {n0: c17 IS NOT NULL, v0: c17, n1: c7 IS NOT NULL, v1: c7}) AS c22 FROM 
(SELECT c2, c3, c4, c5, c6, c7, c8, c16, c17, c19 FROM 
(SELECT c2, c3, c4, c5, c6, c7, c8, c16, c17, coalesce(subtract_wrapped(c17, (c18)::BIGINT), (0)::BIGINT) AS c19 FROM 
(SELECT *, row_number() OVER (PARTITION BY c2, c3, c5, c4, c8, c6, c16 ORDER BY c17 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS c18 FROM 
(SELECT c2, c3, c4, c5, c6, c7, c8, c16, c17 FROM 
(SELECT c2, c3, c4, c5, c6, c7, c8, c16, text_to_bigint(split_part(c9, ':', -1)) AS c17 FROM 
(SELECT c2, c3, c4, c5, c6, c7, c8, c9, split_part(c9, ':', 1) AS c16 FROM 
(SELECT c2, c3, c4, c5, c6, c7, c8, c9 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT "trace" AS c2, "folder" AS c3, "store" AS c4, "path" AS c5, "kind" AS c6, "subject" AS c7, "what" AS c8, "number" AS c9 FROM "gold/mismatches")) SEMI JOIN 
(SELECT * FROM 
(SELECT c12, c13 FROM 
(SELECT c12, c13, c10 FROM 
(SELECT c12, c13, c10, c11 FROM 
(SELECT c12, c13, c10, c11, c11 FROM 
(SELECT *, row_number() OVER (PARTITION BY c12 ORDER BY c15 ASC NULLS FIRST, c14 ASC NULLS FIRST, c13 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS c11 FROM 
(SELECT c12, c13, c14, c10, CASE WHEN (c10 = 'not converged') THEN 0 WHEN (c10 = 'unknown') THEN 1 ELSE 2 END AS c15 FROM 
(SELECT "trace" AS c12, "folder" AS c13, "path" AS c14, "judgement" AS c10 FROM "gold/verdicts"))))) WHERE (c11 <= 200)) WHERE (c10 = 'not converged'))) ON ((c2 = c12) AND (c3 = c13)))))))))) GROUP BY c2, c3, c5, c4, c8, c6, c16, c19))))))))) WHERE (c1 <= 12)) LEFT JOIN 
(SELECT * FROM 
(SELECT c24, c25, c26 FROM 
(SELECT "trace" AS c24, "guid" AS c25, "name" AS c26 FROM "organization/guids"))) ON ((c2 = c24) AND (c16 = c25)))));

-- finding lines
SELECT c1 AS "trace", c3 AS "lines", c4 AS "events", c5 AS "malformed", c6 AS "other version", c7 AS "unknown type" FROM (SELECT c1, count(1) AS c3, count(1) FILTER (WHERE (c2 IS NULL)) AS c4, count(1) FILTER (WHERE (c2 = 'malformed')) AS c5, count(1) FILTER (WHERE (c2 = 'other version')) AS c6, count(1) FILTER (WHERE (c2 = 'unknown type')) AS c7 FROM 
(SELECT "trace" AS c1, "aside" AS c2 FROM "bronze") GROUP BY c1);

-- finding judgements
SELECT c1 AS "trace", c2 AS "judgement", c3 AS "folders" FROM (SELECT c1, c2, count(1) AS c3 FROM 
(SELECT "trace" AS c1, "judgement" AS c2 FROM "gold/verdicts") GROUP BY c1, c2);

-- finding doubts
SELECT c2 AS "trace", c3 AS "doubt" FROM (SELECT c2, c3 FROM 
(SELECT c2, c3, c1 FROM 
(SELECT c2, c3, c1, c1 FROM 
(SELECT *, row_number() OVER (PARTITION BY c2 ORDER BY c3 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS c1 FROM 
(SELECT c2, c3 FROM 
(SELECT "trace" AS c2, "doubt" AS c3 FROM "evidence/doubts"))))) WHERE (c1 <= 20));

-- finding folders
SELECT c2 AS "trace", c3 AS "folder", c4 AS "path", c6 AS "judgement", c5 AS "holders", c7 AS "reasons", c9 AS "rank" FROM (SELECT c2, c3, c4, c6, c5, c7, CASE WHEN (c6 = 'not converged') THEN 0 WHEN (c6 = 'unknown') THEN 1 ELSE 2 END AS c9 FROM 
(SELECT c2, c3, c4, c5, c6, c7, c1 FROM 
(SELECT c2, c3, c4, c5, c6, c7, c1, c1 FROM 
(SELECT *, row_number() OVER (PARTITION BY c2 ORDER BY c8 ASC NULLS FIRST, c4 ASC NULLS FIRST, c3 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS c1 FROM 
(SELECT c2, c3, c4, c5, c6, c7, CASE WHEN (c6 = 'not converged') THEN 0 WHEN (c6 = 'unknown') THEN 1 ELSE 2 END AS c8 FROM 
(SELECT "trace" AS c2, "folder" AS c3, "path" AS c4, "holders" AS c5, "judgement" AS c6, "reasons" AS c7 FROM "gold/verdicts"))))) WHERE (c1 <= 200));

-- finding witnesses
SELECT c2 AS "trace", c4 AS "folder", c6 AS "store", c3 AS "guid", c8 AS "low", c7 AS "kind", c5 AS "path", c1 AS "what", c9 AS "high", c10 AS "subject", c11 AS "nth", c12 AS "all", c13 AS "name", c113 AS "fate" FROM (SELECT c2 AS c2, c4 AS c4, c6 AS c6, c3 AS c3, c8 AS c8, c7 AS c7, c5 AS c5, c1 AS c1, c9 AS c9, c10 AS c10, c11 AS c11, c12 AS c12, c13 AS c13, c113 AS c113 FROM 
(SELECT c2, c4, c6, c3, c8, c7, c5, c1, c9, c10, c11, c12, c13, c113 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT "trace" AS c2, "guid" AS c3, "folder" AS c4, "path" AS c5, "store" AS c6, "what" AS c1, "kind" AS c7, "low" AS c8, "high" AS c9, "subject" AS c10, "nth" AS c11, "all" AS c12, "name" AS c13 FROM "evidence/differences") WHERE starts_with(c1, 'lacks')) LEFT JOIN 
(SELECT * FROM 
(SELECT c14, c18, c16, c15, c17, c19, {'sent': c33, 'mails': c57, 'received': c58, 'first': c59, 'asked': c85, 'requests': c86, 'due_at': c112} AS c113 FROM 
(SELECT c14, c18, c16, c15, c17, c19, c33, c57, c58, c59, c85, c86, c112 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c14, c18, c16, c15, c17, c19, c33, c57, c58, c59, c85, c86 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c14, c18, c16, c15, c17, c19, c33, c57, c58, c59 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c14, c18, c16, c15, c17, c19, c33 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT DISTINCT c14, c15, c16, c17, c18, c19 FROM 
(SELECT c14, c18, c16, c15, c17, c19 FROM 
(SELECT "trace" AS c14, "guid" AS c15, "folder" AS c18, "store" AS c16, "what" AS c20, "kind" AS c19, "low" AS c17 FROM "evidence/differences") WHERE (c20 IN ('lacks', 'lacks deletion'))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c26, c28, c30, c24, c25, c23, count(DISTINCT c27) AS c33 FROM 
(SELECT c26, c27, c28, c30, c24, c25, c23 FROM 
(SELECT c26, c28, c27, c22, c30, c24, c25, c23 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT "trace" AS c26, "mail" AS c27, "folder" AS c28, "stands_for" AS c22 FROM "evidence/mail_folders")) JOIN 
(SELECT * FROM 
(SELECT DISTINCT c29, c24, c30, c25, c31, c23 FROM 
(SELECT c29, c31, c30, c24, c25, c23 FROM 
(SELECT "trace" AS c29, "guid" AS c24, "folder" AS c31, "store" AS c30, "what" AS c32, "kind" AS c23, "low" AS c25 FROM "evidence/differences") WHERE (c32 IN ('lacks', 'lacks deletion'))))) ON ((c26 = c29) AND (c28 = c31)))) WHERE list_any(list_transform(c22, lambda v21: (((v21)."guid" = CASE WHEN (c23 = 'fai') THEN (c24 || ' fai') ELSE c24 END) AND ((c25 >= (v21)."low") AND (c25 <= (v21)."high")))))) GROUP BY c26, c28, c30, c24, c25, c23)) ON ((((((c14 = c26) AND (c18 = c28)) AND (c16 = c30)) AND (c15 = c24)) AND (c17 = c25)) AND (c19 = c23))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c38, c40, c42, c36, c37, c35, count(1) AS c57, count(1) FILTER (WHERE (c50 IS NOT NULL)) AS c58, arg_min_null({'mail': c39, 'sender': c48, 'submitted_at': c49, 'received_at': c50, 'dropped_at': c51, 'fault': c52, 'expired_at': c53, 'deleted_at': c54, 'bad_at': c55, 'reason': c56}, {n0: c49 IS NOT NULL, v0: c49, n1: c39 IS NOT NULL, v1: c39}) AS c59 FROM 
(SELECT c38, c39, c42, c40, c36, c37, c35, c48, c49, c50, c51, c52, c53, c54, c55, c56 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c38, c39, c40, c42, c36, c37, c35 FROM 
(SELECT c38, c40, c39, c34, c42, c36, c37, c35 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT "trace" AS c38, "mail" AS c39, "folder" AS c40, "stands_for" AS c34 FROM "evidence/mail_folders")) JOIN 
(SELECT * FROM 
(SELECT DISTINCT c41, c36, c42, c37, c43, c35 FROM 
(SELECT c41, c43, c42, c36, c37, c35 FROM 
(SELECT "trace" AS c41, "guid" AS c36, "folder" AS c43, "store" AS c42, "what" AS c44, "kind" AS c35, "low" AS c37 FROM "evidence/differences") WHERE (c44 IN ('lacks', 'lacks deletion'))))) ON ((c38 = c41) AND (c40 = c43)))) WHERE list_any(list_transform(c34, lambda v21: (((v21)."guid" = CASE WHEN (c35 = 'fai') THEN (c36 || ' fai') ELSE c36 END) AND ((c37 >= (v21)."low") AND (c37 <= (v21)."high"))))))) JOIN 
(SELECT * FROM 
(SELECT "trace" AS c45, "mail" AS c46, "store" AS c47, "sender" AS c48, "submitted_at" AS c49, "received_at" AS c50, "dropped_at" AS c51, "fault" AS c52, "expired_at" AS c53, "deleted_at" AS c54, "bad_at" AS c55, "reason" AS c56 FROM "evidence/mails")) ON (((c38 = c45) AND (c39 = c46)) AND (c42 = c47)))) GROUP BY c38, c40, c42, c36, c37, c35)) ON ((((((c14 = c38) AND (c18 = c40)) AND (c16 = c42)) AND (c15 = c36)) AND (c17 = c37)) AND (c19 = c35))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c67, c70, c74, c63, c64, c62, arg_max_null({'source': c73, 'at': c69}, c69) AS c85, count(1) AS c86 FROM 
(SELECT c67, c70, c74, c61, c73, c69, c63, c64, c62 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c67, c70, c68 AS c74, (list_flattened(list_transform(list_filter(str_split(c71, ';'), lambda v76: (NOT (v76 = ''))), lambda v75: list_transform(str_split(split_part(v75, ':', 2), ','), lambda v77: {'guid': CASE WHEN ('message' = 'fai') THEN (split_part(v75, ':', 1) || ' fai') ELSE split_part(v75, ':', 1) END, 'low': text_to_bigint(split_part(v77, '-', 1)), 'high': text_to_bigint(split_part(v77, '-', (-1)))}))) || list_flattened(list_transform(list_filter(str_split(c72, ';'), lambda v79: (NOT (v79 = ''))), lambda v78: list_transform(str_split(split_part(v78, ':', 2), ','), lambda v80: {'guid': CASE WHEN ('fai' = 'fai') THEN (split_part(v78, ':', 1) || ' fai') ELSE split_part(v78, ':', 1) END, 'low': text_to_bigint(split_part(v80, '-', 1)), 'high': text_to_bigint(split_part(v80, '-', (-1)))})))) AS c61, c73, c69 FROM 
(SELECT c67, c68, c69, c70, c73, c71, c72 FROM 
(SELECT "trace" AS c67, "node" AS c68, "type" AS c66, "at" AS c69, "folder" AS c70, "cnset" AS c71, "cnset_fai" AS c72, "source" AS c73, "family" AS c65 FROM "silver/events") WHERE ((c65 IN ('replication')) AND (c66 IN ('request.sent')))))) JOIN 
(SELECT * FROM 
(SELECT DISTINCT c81, c63, c82, c64, c83, c62 FROM 
(SELECT c81, c83, c82, c63, c64, c62 FROM 
(SELECT "trace" AS c81, "guid" AS c63, "folder" AS c83, "store" AS c82, "what" AS c84, "kind" AS c62, "low" AS c64 FROM "evidence/differences") WHERE (c84 IN ('lacks', 'lacks deletion'))))) ON (((c67 = c81) AND (c70 = c83)) AND (c74 = c82)))) WHERE list_any(list_transform(c61, lambda v60: (((v60)."guid" = CASE WHEN (c62 = 'fai') THEN (c63 || ' fai') ELSE c63 END) AND ((c64 >= (v60)."low") AND (c64 <= (v60)."high"))))) GROUP BY c67, c70, c74, c63, c64, c62)) ON ((((((c14 = c67) AND (c18 = c70)) AND (c16 = c74)) AND (c15 = c63)) AND (c17 = c64)) AND (c19 = c62))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c94, c97, c101, c90, c91, c89, arg_max_null(c100, c96) AS c112 FROM 
(SELECT c94, c97, c101, c88, c96, c100, c90, c91, c89 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c94, c97, c95 AS c101, (list_flattened(list_transform(list_filter(str_split(c98, ';'), lambda v103: (NOT (v103 = ''))), lambda v102: list_transform(str_split(split_part(v102, ':', 2), ','), lambda v104: {'guid': CASE WHEN ('message' = 'fai') THEN (split_part(v102, ':', 1) || ' fai') ELSE split_part(v102, ':', 1) END, 'low': text_to_bigint(split_part(v104, '-', 1)), 'high': text_to_bigint(split_part(v104, '-', (-1)))}))) || list_flattened(list_transform(list_filter(str_split(c99, ';'), lambda v106: (NOT (v106 = ''))), lambda v105: list_transform(str_split(split_part(v105, ':', 2), ','), lambda v107: {'guid': CASE WHEN ('fai' = 'fai') THEN (split_part(v105, ':', 1) || ' fai') ELSE split_part(v105, ':', 1) END, 'low': text_to_bigint(split_part(v107, '-', 1)), 'high': text_to_bigint(split_part(v107, '-', (-1)))})))) AS c88, c96, c100 FROM 
(SELECT c94, c95, c96, c97, c98, c99, c100 FROM 
(SELECT "trace" AS c94, "node" AS c95, "type" AS c93, "seq" AS c96, "folder" AS c97, "cnset" AS c98, "cnset_fai" AS c99, "due_at" AS c100, "family" AS c92 FROM "silver/events") WHERE ((c92 IN ('replication')) AND (c93 IN ('entry.made')))))) JOIN 
(SELECT * FROM 
(SELECT DISTINCT c108, c90, c109, c91, c110, c89 FROM 
(SELECT c108, c110, c109, c90, c91, c89 FROM 
(SELECT "trace" AS c108, "guid" AS c90, "folder" AS c110, "store" AS c109, "what" AS c111, "kind" AS c89, "low" AS c91 FROM "evidence/differences") WHERE (c111 IN ('lacks', 'lacks deletion'))))) ON (((c94 = c108) AND (c97 = c110)) AND (c101 = c109)))) WHERE list_any(list_transform(c88, lambda v87: (((v87)."guid" = CASE WHEN (c89 = 'fai') THEN (c90 || ' fai') ELSE c90 END) AND ((c91 >= (v87)."low") AND (c91 <= (v87)."high"))))) GROUP BY c94, c97, c101, c90, c91, c89)) ON ((((((c14 = c94) AND (c18 = c97)) AND (c16 = c101)) AND (c15 = c90)) AND (c17 = c91)) AND (c19 = c89)))))) ON ((((((c2 = c14) AND (c4 = c18)) AND (c6 = c16)) AND (c3 = c15)) AND (c8 = c17)) AND (c7 = c19))))
UNION ALL SELECT c115 AS c2, c117 AS c4, c119 AS c6, c116 AS c3, c121 AS c8, c120 AS c7, c118 AS c5, c114 AS c1, c122 AS c9, c123 AS c10, c124 AS c11, c125 AS c12, c126 AS c13, c127 AS c113 FROM 
(SELECT c115, c117, c119, c116, c121, c120, c118, c114, c122, c123, c124, c125, c126, c127 FROM 
(SELECT c115, c116, c117, c118, c119, c114, c120, c121, c122, c123, c124, c125, c126, CAST(NULL AS STRUCT("sent" BIGINT, "mails" BIGINT, "received" BIGINT, "first" STRUCT("mail" VARCHAR, "sender" VARCHAR, "submitted_at" BIGINT, "received_at" BIGINT, "dropped_at" BIGINT, "fault" VARCHAR, "expired_at" BIGINT, "deleted_at" BIGINT, "bad_at" BIGINT, "reason" VARCHAR), "asked" STRUCT("source" VARCHAR, "at" BIGINT), "requests" BIGINT, "due_at" BIGINT)) AS c127 FROM 
(SELECT "trace" AS c115, "guid" AS c116, "folder" AS c117, "path" AS c118, "store" AS c119, "what" AS c114, "kind" AS c120, "low" AS c121, "high" AS c122, "subject" AS c123, "nth" AS c124, "all" AS c125, "name" AS c126 FROM "evidence/differences") WHERE (NOT starts_with(c114, 'lacks')))));

-- finding rules
SELECT c1 AS "trace", c2 AS "check", c3 AS "consumed", c4 AS "violations", c5 AS "at", c6 AS "witness" FROM (SELECT c1, c2, c3, c4, c5, c6 FROM 
(SELECT "trace" AS c1, "check" AS c2, "consumed" AS c3, "violations" AS c4, "at" AS c5, "witness" AS c6 FROM "gold/rules"));

-- finding names
SELECT c1 AS "trace", c2 AS "kind", c3 AS "id", c4 AS "name" FROM (SELECT DISTINCT c1, c2, c3, c4 FROM 
(SELECT c1 AS c1, c2 AS c2, c3 AS c3, c4 AS c4 FROM 
(SELECT c1, c2, c3, c4 FROM 
(SELECT c1, c3, c2, c4 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT DISTINCT c1, c2, c3 FROM 
(SELECT c1, CASE WHEN starts_with(c5, 'folder=') THEN 'folder' WHEN starts_with(c5, 'object=') THEN 'object' END AS c2, split_part(c5, '=', -1) AS c3 FROM 
(SELECT c1, c5 FROM 
(SELECT * EXCLUDE (uc5), uc5 AS c5 FROM (SELECT *, unnest(list_unique(regexp_extract_all(c7, '(?:(?:folder|object)=)?\{?[0-9a-f]{32}\}?:[0-9]+(?:-[0-9]+)?', 0))) AS uc5 FROM 
(SELECT "trace" AS c1, "violations" AS c6, "witness" AS c7 FROM "gold/rules") WHERE (c6 > (0)::BIGINT)))))) WHERE (c2 = 'folder')) JOIN 
(SELECT * FROM 
(SELECT c8, c9 AS c11, c10 AS c4 FROM 
(SELECT "trace" AS c8, "folder" AS c9, "path" AS c10 FROM "gold/verdicts"))) ON ((c1 = c8) AND (c3 = c11)))))
UNION ALL SELECT c13 AS c1, c12 AS c2, c14 AS c3, c22 AS c4 FROM 
(SELECT c13, c12, c14, c22 FROM 
(SELECT c13, c12, c14, c22 FROM 
(SELECT c13, c14, c12, c22 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT DISTINCT c13, c12, c14 FROM 
(SELECT c13, CASE WHEN starts_with(c15, 'folder=') THEN 'folder' WHEN starts_with(c15, 'object=') THEN 'object' END AS c12, split_part(c15, '=', -1) AS c14 FROM 
(SELECT c13, c15 FROM 
(SELECT * EXCLUDE (uc15), uc15 AS c15 FROM (SELECT *, unnest(list_unique(regexp_extract_all(c17, '(?:(?:folder|object)=)?\{?[0-9a-f]{32}\}?:[0-9]+(?:-[0-9]+)?', 0))) AS uc15 FROM 
(SELECT "trace" AS c13, "violations" AS c16, "witness" AS c17 FROM "gold/rules") WHERE (c16 > (0)::BIGINT)))))) WHERE (c12 = 'object')) JOIN 
(SELECT * FROM 
(SELECT c19, c20 AS c21, c18 AS c22 FROM 
(SELECT "trace" AS c19, "object" AS c20, "subject" AS c18 FROM "evidence/objects") WHERE (NOT (c18 = '')))) ON ((c13 = c19) AND (c14 = c21))))))
UNION ALL SELECT c23 AS c1, c29 AS c2, c30 AS c3, c25 AS c4 FROM 
(SELECT c23, c29, c30, c25 FROM 
(SELECT c23, 'guid' AS c29, c24 AS c30, c25 FROM 
(SELECT c23 AS c23, c24 AS c24, c25 AS c25 FROM 
(SELECT c23, c24, c25 FROM 
(SELECT "trace" AS c23, "guid" AS c24, "name" AS c25 FROM "organization/guids"))
UNION ALL SELECT c26 AS c23, c27 AS c24, c28 AS c25 FROM 
(SELECT c26, c27, c28 FROM 
(SELECT c26, c27, 'Setup' AS c28 FROM 
(SELECT "trace" AS c26, "guid" AS c27 FROM "organization/setup"))))))));

-- finding losses
SELECT c2 AS "trace", c3 AS "path", c4 AS "subject", c5 AS "number", c10 AS "name", c6 AS "all" FROM (SELECT c2, c3, c4, c5, c10, c6 FROM 
(SELECT c2, c3, c4, c5, c6, c10 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c2, c3, c4, c5, c6, split_part(c5, ':', 1) AS c7 FROM 
(SELECT c2, c3, c4, c5, c6, c1 FROM 
(SELECT c2, c3, c4, c5, c6, c1, c1 FROM 
(SELECT *, row_number() OVER (PARTITION BY c2 ORDER BY c3 ASC NULLS FIRST, c5 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS c1 FROM 
(SELECT c2, c3, c4, c5, c6 FROM 
(SELECT c2, c3, c4, c5, c6 FROM 
(SELECT c2, c3, c4, c5, c6, c6 FROM 
(SELECT *, count(1) OVER (PARTITION BY c2) AS c6 FROM 
(SELECT c2, c3, c4, c5 FROM 
(SELECT "trace" AS c2, "path" AS c3, "subject" AS c4, "number" AS c5 FROM "gold/losses"))))))))) WHERE (c1 <= 20))) LEFT JOIN 
(SELECT * FROM 
(SELECT c8, c9, c10 FROM 
(SELECT "trace" AS c8, "guid" AS c9, "name" AS c10 FROM "organization/guids"))) ON ((c2 = c8) AND (c7 = c9)))));

-- figure latencies
SELECT c3 AS "trace", c9 AS "way", c20 AS "took_us", c21 AS "applied", c22 AS "longest_us" FROM (SELECT c3, c9, c20, count(1) AS c21, max(c19) AS c22 FROM 
(SELECT c3, c9, c19, subtract_wrapped(c19, remainder_or_null(c19, (CASE WHEN (abs_wrapped(c19) < 3600000000::BIGINT) THEN 1000000 ELSE 60000000 END)::BIGINT)) AS c20 FROM 
(SELECT c3, c9, subtract_wrapped(c8, c18) AS c19 FROM 
(SELECT c3, c8, c9, c18 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c3, c6, min(c5) AS c8, arg_min_null(c7, c2) AS c9 FROM 
(SELECT "trace" AS c3, "store" AS c4, "act" AS c1, "seq" AS c2, "at" AS c5, "number" AS c6, "way" AS c7 FROM "evidence/versions") WHERE ((c1 = 'applied') AND (c2 > (0)::BIGINT)) GROUP BY c3, c4, c6)) JOIN 
(SELECT * FROM 
(SELECT c12, c15, c17 AS c18 FROM 
(SELECT c12, c15, (c16)."at" AS c17 FROM 
(SELECT c12, c15, arg_min_null({'at': c14}, {n0: c14 IS NOT NULL, v0: c14, n1: c13 IS NOT NULL, v1: c13, n2: c11 IS NOT NULL, v2: c11}) AS c16 FROM 
(SELECT "trace" AS c12, "store" AS c13, "act" AS c10, "seq" AS c11, "at" AS c14, "number" AS c15 FROM "evidence/versions") WHERE ((c10 = 'made') AND (c11 > (0)::BIGINT)) GROUP BY c12, c15)))) ON ((c3 = c12) AND (c6 = c15)))))) GROUP BY c3, c9, c20);

-- figure fates
SELECT c1 AS "trace", c29 AS "fate", c30 AS "changes" FROM (SELECT c1, CASE WHEN list_contains_or_null(c23, c4) THEN 'lost' WHEN (c28 IS NULL) THEN 'folder deleted' WHEN ((NOT list_contains_or_null(c24, c4)) AND (NOT coalesce((c21 = c4), FALSE))) THEN 'superseded' WHEN (coalesce(len(list_except(c28, coalesce(c16, CAST([] AS VARCHAR[]))))::INTEGER, -1) > 0) THEN 'never read' WHEN coalesce(c17, FALSE) THEN 'late' ELSE 'stable' END AS c29, count(1) AS c30 FROM 
(SELECT c1, c4, c16, c17, c23, c24, c21, c28 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c1, c2, c4, c16, c17, c23, c24, c21 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c1, c2, c3, c4, c16, c17 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT DISTINCT c1, c2, c3, c4 FROM 
(SELECT c1, c2, c3, c4 FROM 
(SELECT "trace" AS c1, "folder" AS c2, "object" AS c3, "act" AS c5, "seq" AS c6, "number" AS c4 FROM "evidence/versions") WHERE ((c5 = 'made') AND (c6 > (0)::BIGINT))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c10, c12, c13, c14, coalesce(list(DISTINCT c11) FILTER (WHERE c11 IS NOT NULL), []) AS c16, max((coalesce(c15, '') = 'backfill')) AS c17 FROM 
(SELECT "trace" AS c10, "store" AS c11, "folder" AS c12, "object" AS c13, "act" AS c7, "number" AS c14, "way" AS c15, "undone" AS c8, "dropped" AS c9 FROM "evidence/versions") WHERE (((c7 IN ('made', 'applied')) AND (NOT c8)) AND (NOT c9)) GROUP BY c10, c12, c13, c14)) ON ((((c1 = c10) AND (c2 = c12)) AND (c3 = c13)) AND (c4 = c14))))) JOIN 
(SELECT * FROM 
(SELECT c18, c19, c20, c23, list_transform(c22, lambda v25: (v25)."number") AS c24, c21 FROM 
(SELECT "trace" AS c18, "folder" AS c19, "object" AS c20, "tombstone" AS c21, "versions" AS c22, "lost" AS c23 FROM "evidence/objects"))) ON (((c1 = c18) AND (c2 = c19)) AND (c3 = c20))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c26, c27, c28 FROM 
(SELECT "trace" AS c26, "folder" AS c27, "holders" AS c28 FROM "evidence/folders"))) ON ((c1 = c26) AND (c2 = c27)))) GROUP BY c1, CASE WHEN list_contains_or_null(c23, c4) THEN 'lost' WHEN (c28 IS NULL) THEN 'folder deleted' WHEN ((NOT list_contains_or_null(c24, c4)) AND (NOT coalesce((c21 = c4), FALSE))) THEN 'superseded' WHEN (coalesce(len(list_except(c28, coalesce(c16, CAST([] AS VARCHAR[]))))::INTEGER, -1) > 0) THEN 'never read' WHEN coalesce(c17, FALSE) THEN 'late' ELSE 'stable' END);

-- figure traffic
SELECT c2 AS "trace", c4 AS "message_type", c9 AS "mails", c10 AS "copies", c11 AS "bytes", c12 AS "arrived", c13 AS "lost", c14 AS "bad", c15 AS "redundant_bytes" FROM (SELECT c2, c4, count(DISTINCT c3) AS c9, count(1) AS c10, wrapped(sum(c5)) AS c11, count(1) FILTER (WHERE (c6 > (0)::BIGINT)) AS c12, count(1) FILTER (WHERE (c7 IS NOT NULL)) AS c13, count(1) FILTER (WHERE (c8 IS NOT NULL)) AS c14, wrapped(sum(CASE WHEN (c6 > (1)::BIGINT) THEN multiply_wrapped(c5, subtract_wrapped(c6, (1)::BIGINT)) ELSE (0)::BIGINT END)) AS c15 FROM 
(SELECT "trace" AS c2, "mail" AS c3, "sender" AS c1, "message_type" AS c4, "size" AS c5, "times" AS c6, "dropped_at" AS c7, "bad_at" AS c8 FROM "evidence/mails") WHERE (c1 IS NOT NULL) GROUP BY c2, c4);

-- detail lab_events
SELECT c5 AS "trace", c2 AS "type", c7 AS "at", c9 AS "seed", c11 AS "version", c8 AS "topology", c12 AS "revision", c10 AS "settings", c13 AS "fault", c14 AS "kind", c15 AS "details" FROM (SELECT c5, c2, c7, c9, c11, c8, c12, c10, c13, c14, c15 FROM 
(SELECT c5, c2, c7, c8, c9, c10, c11, c12, c13, c14, c15, c1 FROM 
(SELECT c5, c2, c7, c8, c9, c10, c11, c12, c13, c14, c15, c1, c1 FROM 
(SELECT *, row_number() OVER (PARTITION BY c5 ORDER BY c18 ASC NULLS FIRST, c7 ASC NULLS FIRST, c6 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS c1 FROM 
(SELECT c5, c2, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, CASE WHEN (c2 = 'run.started') THEN 0 WHEN (c2 = 'run.ended') THEN 1 WHEN (c2 = 'organization.changed') THEN 2 ELSE 3 END AS c18 FROM 
(SELECT c5, c2, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c3 FROM 
(SELECT c5, c2, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, (c12 IS NOT DISTINCT FROM c17) AS c3 FROM 
(SELECT *, max(c12) OVER (PARTITION BY c5, c2) AS c17 FROM 
(SELECT c5, c2, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15 FROM 
(SELECT c5, c2, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c4 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT "trace" AS c5, "type" AS c2, "seq" AS c6, "at" AS c7, "topology" AS c8, "seed" AS c9, "settings" AS c10, "version" AS c11, "revision" AS c12, "fault" AS c13, "kind" AS c14, "details" AS c15, "family" AS c4 FROM "silver/events")) SEMI JOIN 
(SELECT * FROM 
(SELECT "trace" AS c16 FROM "given/runs")) ON (c5 = c16))) WHERE ((c4 = 'run') AND (c2 IN ('run.started', 'run.ended', 'organization.changed', 'fault.injected', 'fault.healed'))))))) WHERE ((NOT (c2 = 'organization.changed')) OR c3))))) WHERE (c1 <= 800));

-- detail mail_slots
SELECT c3 AS "trace", c4 AS "message_type", c17 AS "slot", c18 AS "at", c19 AS "copies", c20 AS "lost" FROM (SELECT c3, c4, double_to_bigint(floor(((subtract_wrapped(c1, c15))::DOUBLE / nullif(greatest(((subtract_wrapped(c16, c15))::DOUBLE / nullif((768)::DOUBLE, 0)), (1000000)::DOUBLE), 0)))) AS c17, min(c1) AS c18, count(1) AS c19, count(1) FILTER (WHERE ((c5 IS NULL) AND (coalesce(c6, c9, c7, c8) IS NOT NULL))) AS c20 FROM 
(SELECT c3, c4, c1, c5, c6, c7, c8, c9, c15, c16 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c3, c2, c4, c1, c5, c6, c7, c8, c9 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT "trace" AS c3, "sender" AS c2, "message_type" AS c4, "submitted_at" AS c1, "received_at" AS c5, "dropped_at" AS c6, "expired_at" AS c7, "deleted_at" AS c8, "bad_at" AS c9 FROM "evidence/mails")) SEMI JOIN 
(SELECT * FROM 
(SELECT "trace" AS c10 FROM "given/runs")) ON (c3 = c10))) WHERE ((c1 IS NOT NULL) AND (c2 IS NOT NULL))) JOIN 
(SELECT * FROM 
(SELECT c13, min(c11) AS c15, max(c11) AS c16 FROM 
(SELECT c13, c12, c11 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT "trace" AS c13, "sender" AS c12, "submitted_at" AS c11 FROM "evidence/mails")) SEMI JOIN 
(SELECT * FROM 
(SELECT "trace" AS c14 FROM "given/runs")) ON (c13 = c14))) WHERE ((c11 IS NOT NULL) AND (c12 IS NOT NULL)) GROUP BY c13)) ON (c3 = c13))) GROUP BY c3, c4, double_to_bigint(floor(((subtract_wrapped(c1, c15))::DOUBLE / nullif(greatest(((subtract_wrapped(c16, c15))::DOUBLE / nullif((768)::DOUBLE, 0)), (1000000)::DOUBLE), 0)))));

-- detail differing_stores
SELECT c2 AS "trace", c3 AS "folder", c5 AS "path", c4 AS "store", c17 AS "many", c18 AS "first_at", c19 AS "number" FROM (SELECT c2, c3, c5, c4, c17, c18, c19 FROM 
(SELECT c2, c3, c5, c4, c17, c18, c19, c1 FROM 
(SELECT c2, c3, c5, c4, c17, c18, c19, c1, c1 FROM 
(SELECT *, row_number() OVER (PARTITION BY c2 ORDER BY c5 ASC NULLS FIRST, c3 ASC NULLS FIRST, c4 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS c1 FROM 
(SELECT c2, c3, c5, c4, c17, c18, c19 FROM 
(SELECT c2, c3, c5, c4, count(1) AS c17, min(c16) AS c18, arg_min_null(c6, c16) AS c19 FROM 
(SELECT c2, c6, c3, c4, c5, c16 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c2, c3, c4, c5, c6 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT "trace" AS c2, "folder" AS c3, "store" AS c4, "path" AS c5, "number" AS c6 FROM "gold/mismatches")) SEMI JOIN 
(SELECT * FROM 
(SELECT c8, c9 FROM 
(SELECT c8, c9, c7 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT "trace" AS c8, "folder" AS c9, "judgement" AS c7 FROM "gold/verdicts")) SEMI JOIN 
(SELECT * FROM 
(SELECT "trace" AS c10 FROM "given/runs")) ON (c8 = c10))) WHERE (c7 = 'not converged'))) ON ((c2 = c8) AND (c3 = c9))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c12, c14, min(c13) AS c16 FROM 
(SELECT c12, c11, c13, c14 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT "trace" AS c12, "act" AS c11, "at" AS c13, "number" AS c14 FROM "evidence/versions")) SEMI JOIN 
(SELECT * FROM 
(SELECT "trace" AS c15 FROM "given/runs")) ON (c12 = c15))) WHERE (c11 = 'made') GROUP BY c12, c14)) ON ((c2 = c12) AND (c6 = c14)))) GROUP BY c2, c3, c5, c4))))) WHERE (c1 <= 480));

-- detail violated_checks
SELECT c2 AS "trace", c3 AS "check", c1 AS "violations", c4 AS "at", c5 AS "witness" FROM (SELECT c2, c3, c1, c4, c5 FROM 
(SELECT c2, c3, c1, c4, c5 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c2, c3, c1, c4, c5 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT "trace" AS c2, "check" AS c3, "violations" AS c1, "at" AS c4, "witness" AS c5 FROM "gold/rules")) SEMI JOIN 
(SELECT * FROM 
(SELECT "trace" AS c6 FROM "given/runs")) ON (c2 = c6))) WHERE (c1 > (0)::BIGINT)) ANTI JOIN 
(SELECT * FROM 
(SELECT DISTINCT c7 FROM 
(SELECT c7 FROM 
(SELECT "trace" AS c7 FROM "evidence/doubts")))) ON (c2 = c7))));

-- detail store_guids
SELECT c1 AS "trace", c2 AS "guid", c3 AS "name" FROM (SELECT c1, c2, c3 FROM 
(SELECT c1, c2, c3 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT "trace" AS c1, "guid" AS c2, "name" AS c3 FROM "organization/guids")) SEMI JOIN 
(SELECT * FROM 
(SELECT "trace" AS c4 FROM "given/runs")) ON (c1 = c4))));

-- detail clocked_events
SELECT c2 AS "type", c4 AS "node", c5 AS "seq", c6 AS "lamport", c7 AS "at", c8 AS "mail", c9 AS "number", c11 AS "folder", c12 AS "source", c10 AS "sender" FROM (SELECT c2, c4, c5, c6, c7, c8, c9, c11, c12, c10 FROM 
(SELECT c4, c2, c5, c6, c7, c8, c9, c10, c11, c12, c1 FROM 
(SELECT c4, c2, c5, c6, c7, c8, c9, c10, c11, c12, c1, c1 FROM 
(SELECT *, row_number() OVER (PARTITION BY c3 ORDER BY c6 ASC NULLS FIRST, c4 ASC NULLS FIRST, c5 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS c1 FROM 
(SELECT c3, c4, c2, c5, c6, c7, c8, c9, c10, c11, c12 FROM 
(SELECT c3, c4, c2, c5, c6, c7, c8, c9, c10, c11, c12 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT "trace" AS c3, "node" AS c4, "type" AS c2, "seq" AS c5, "lamport" AS c6, "at" AS c7, "mail" AS c8, "number" AS c9, "sender" AS c10, "folder" AS c11, "source" AS c12 FROM "silver/events")) SEMI JOIN 
(SELECT * FROM 
(SELECT "trace" AS c13 FROM "given/runs")) ON (c3 = c13))) WHERE (c2 IN ('node.started', 'node.stopped', 'change.made', 'version.applied', 'mail.submitted', 'mail.received', 'hop.dropped', 'conflict.arose', 'entry.made', 'request.sent', 'request.answered', 'replica.added', 'replica.dropped')))))) WHERE (c1 <= 5000));

-- detail moment_mails
SELECT c14 AS "nth", c6 AS "mail", c4 AS "sender", c7 AS "store", c8 AS "message_type", c2 AS "submitted_at", c9 AS "received_at", c10 AS "dropped_at", c13 AS "bad_at", c11 AS "expired_at", c12 AS "deleted_at" FROM (SELECT c14, c6, c4, c7, c8, c2, c9, c10, c13, c11, c12 FROM 
(SELECT c6, c7, c4, c8, c2, c9, c10, c11, c12, c13, c14, c1 FROM 
(SELECT c6, c7, c4, c8, c2, c9, c10, c11, c12, c13, c14, c1, c1 FROM 
(SELECT *, row_number() OVER (PARTITION BY c14 ORDER BY c16 ASC NULLS FIRST, c6 ASC NULLS FIRST, c7 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS c1 FROM 
(SELECT c6, c7, c4, c8, c2, c9, c10, c11, c12, c13, c14, abs_wrapped(subtract_wrapped(c2, c3)) AS c16 FROM 
(SELECT c6, c7, c4, c8, c2, c9, c10, c11, c12, c13, c14, c3 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT "trace" AS c5, "mail" AS c6, "store" AS c7, "sender" AS c4, "message_type" AS c8, "submitted_at" AS c2, "received_at" AS c9, "dropped_at" AS c10, "expired_at" AS c11, "deleted_at" AS c12, "bad_at" AS c13 FROM "evidence/mails") WHERE (c4 IS NOT NULL)) JOIN 
(SELECT * FROM 
(SELECT "nth" AS c14, "trace" AS c15, "moment" AS c3 FROM "given/moments")) ON (c5 = c15))) WHERE ((c2 >= subtract_wrapped(c3, 129600000000::BIGINT)) AND (c2 <= add_wrapped(c3, 129600000000::BIGINT))))))) WHERE (c1 <= 40));

-- detail moment_events
SELECT c13 AS "nth", c6 AS "node", c4 AS "type", c2 AS "at", c7 AS "seq", c8 AS "mail", c10 AS "number", c12 AS "object", c11 AS "folder", c9 AS "subject" FROM (SELECT c13, c6, c4, c2, c7, c8, c10, c12, c11, c9 FROM 
(SELECT c6, c4, c2, c7, c8, c10, c12, c11, c9, c13, c1 FROM 
(SELECT c6, c4, c2, c7, c8, c10, c12, c11, c9, c13, c1, c1 FROM 
(SELECT *, row_number() OVER (PARTITION BY c13 ORDER BY c15 ASC NULLS FIRST, c6 ASC NULLS FIRST, c7 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS c1 FROM 
(SELECT c6, c4, c2, c7, c8, c10, c12, c11, c9, c13, abs_wrapped(subtract_wrapped(c2, c3)) AS c15 FROM 
(SELECT c6, c4, c2, c7, c8, c10, c12, c11, c9, c13, c3 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c5, c6, c4, c2, c7, c8, c10, c12, c11, c9 FROM 
(SELECT "trace" AS c5, "node" AS c6, "type" AS c4, "seq" AS c7, "at" AS c2, "mail" AS c8, "subject" AS c9, "number" AS c10, "folder" AS c11, "object" AS c12 FROM "silver/events"))) JOIN 
(SELECT * FROM 
(SELECT "nth" AS c13, "trace" AS c14, "moment" AS c3 FROM "given/moments")) ON (c5 = c14))) WHERE ((c2 = c3) OR ((c4 IN ('change.made', 'backup.restored', 'conflict.arose', 'store.deleted', 'replica.dropped')) AND ((c2 >= subtract_wrapped(c3, 129600000000::BIGINT)) AND (c2 <= add_wrapped(c3, 129600000000::BIGINT))))))))) WHERE (c1 <= 40));

-- detail last_changes
SELECT c4 AS "trace", c5 AS "folder", c7 AS "number", c8 AS "guid", c9 AS "counter", c34 AS "name", c14 AS "made_at", c11 AS "subject", c10 AS "deleted", c15 AS "all", c31 AS "arrivals" FROM (SELECT c4, c5, c7, c8, c9, c34, c14, c11, c10, c15, c31 FROM 
(SELECT c4, c8, c5, c7, c9, c14, c11, c10, c15, c31, c34 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c4, c5, c7, c8, c9, c14, c11, c10, c15, c31 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c4, c5, c7, c8, c9, c14, c11, c10, c15, c1 FROM 
(SELECT c4, c5, c7, c8, c9, c14, c11, c10, c15, c1, c1 FROM 
(SELECT *, row_number() OVER (PARTITION BY c4, c5 ORDER BY c14 DESC NULLS LAST, c7 ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS c1 FROM 
(SELECT c4, c5, c7, c8, c9, c14, c11, c10, c15 FROM 
(SELECT c4, c5, c7, c8, c9, c14, c11, c10, c15 FROM 
(SELECT c4, c5, c7, c8, c9, c14, c11, c10, c15, c15 FROM 
(SELECT *, count(1) OVER (PARTITION BY c4, c5) AS c15 FROM 
(SELECT c4, c5, c7, c8, c9, c14, c11, c10 FROM 
(SELECT c4, c5, c7, c8, c9, c6 AS c14, c11, c10 FROM 
(SELECT c4, c5, c2, c6, c7, c8, c9, c10, c11 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT "trace" AS c4, "store" AS c3, "folder" AS c5, "act" AS c2, "at" AS c6, "number" AS c7, "guid" AS c8, "counter" AS c9, "deleted" AS c10, "subject" AS c11 FROM "evidence/versions") WHERE ((c2 IN ('made', 'applied')) AND (NOT (c3 = 'Setup')))) SEMI JOIN 
(SELECT * FROM 
(SELECT "trace" AS c12, "folder" AS c13 FROM "given/folders")) ON ((c4 = c12) AND (c5 = c13)))) WHERE (c2 = 'made')))))))))) WHERE (c1 <= 40)) LEFT JOIN 
(SELECT * FROM 
(SELECT c20, c21, c24, coalesce(list({'store': c19, 'at': c28, 'way': c29, 'act': c30}), []) AS c31 FROM 
(SELECT c20, c21, c24, c19, min(c23) AS c28, arg_min_null(c25, c22) AS c29, arg_min_null(c18, c22) AS c30 FROM 
(SELECT c20, c21, c19, c18, c22, c23, c24, c25, c16, c17 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT "trace" AS c20, "store" AS c19, "folder" AS c21, "act" AS c18, "seq" AS c22, "at" AS c23, "number" AS c24, "way" AS c25, "undone" AS c16, "dropped" AS c17 FROM "evidence/versions") WHERE ((c18 IN ('made', 'applied')) AND (NOT (c19 = 'Setup')))) SEMI JOIN 
(SELECT * FROM 
(SELECT "trace" AS c26, "folder" AS c27 FROM "given/folders")) ON ((c20 = c26) AND (c21 = c27)))) WHERE ((NOT c16) AND (NOT c17)) GROUP BY c20, c21, c24, c19) GROUP BY c20, c21, c24)) ON (((c4 = c20) AND (c5 = c21)) AND (c7 = c24))))) LEFT JOIN 
(SELECT * FROM 
(SELECT c32, c33, c34 FROM 
(SELECT "trace" AS c32, "guid" AS c33, "name" AS c34 FROM "organization/guids"))) ON ((c4 = c32) AND (c8 = c33)))));

-- published runs
SELECT c4 AS "trace", c5 AS "place", c31 AS "run", c14 AS "seed", c15 AS "version", c38 AS "started_at", c39 AS "ended_at", c6 AS "lines", c1 AS "events", c32 AS "folders", c36 AS "violations", c37 AS "judgement" FROM (SELECT c4, c5, c31, c14, c15, CASE WHEN ((c13 >= (-62135596800000000)::BIGINT) AND (c13 <= 253402300799999999::BIGINT)) THEN make_timestamp(c13) END AS c38, CASE WHEN ((c20 >= (-62135596800000000)::BIGINT) AND (c20 <= 253402300799999999::BIGINT)) THEN make_timestamp(c20) END AS c39, c6, c1, c32, c36, c37 FROM 
(SELECT c4, c5, c31, c14, c15, c13, c20, c6, c1, c32, c36, c37 FROM 
(SELECT c4, c5, c31, c14, c15, c13, c20, c6, c1, c32, c36, CASE WHEN (c33 > (0)::BIGINT) THEN 'not converged' WHEN (c36 > (0)::BIGINT) THEN 'rules violated' WHEN (((c34 > (0)::BIGINT) OR (c32 = (0)::BIGINT)) OR (c35 > (0)::BIGINT)) THEN 'unknown' ELSE 'converged' END AS c37 FROM 
(SELECT c4, c5, text_replace(text_replace(split_part(c4, '#', -1), '%23', '#'), '%25', '%') AS c31, c14, c15, c13, c20, c6, c1, coalesce(c23, (0)::BIGINT) AS c32, coalesce(c24, (0)::BIGINT) AS c33, coalesce(c25, (0)::BIGINT) AS c34, coalesce(c30, (0)::BIGINT) AS c35, CASE WHEN (c30 > (0)::BIGINT) THEN (0)::BIGINT ELSE coalesce(c28, (0)::BIGINT) END AS c36 FROM 
(SELECT c4, c5, c6, c1, c13, c14, c15, c20, c23, c24, c25, c28, c30, c2 FROM 
(SELECT c4, c5, c6, c1, c13, c14, c15, c20, c23, c24, c25, c28, c30, c2, c2 FROM 
(SELECT *, max(c1) OVER (PARTITION BY c5) AS c2 FROM 
(SELECT c4, c5, c6, c1, c13, c14, c15, c20, c23, c24, c25, c28, c30 FROM 
(SELECT c4, c5, c6, c1, c13, c14, c15, c20, c23, c24, c25, c28, c30 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c4, c5, c6, c1, c13, c14, c15, c20, c23, c24, c25, c28 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c4, c5, c6, c1, c13, c14, c15, c20, c23, c24, c25 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c4, c5, c6, c1, c13, c14, c15, c20 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c4, c5, c6, c1, c13, c14, c15 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT c4, c5, count(1) AS c6, count(1) FILTER (WHERE (c3 IS NULL)) AS c1 FROM 
(SELECT "trace" AS c4, "place" AS c5, "aside" AS c3 FROM "bronze") WHERE ((c3 IS NULL) OR (NOT (c3 = 'segment end'))) GROUP BY c4, c5)) LEFT JOIN 
(SELECT * FROM 
(SELECT c9, min(c10) AS c13, min(c11) AS c14, min(c12) AS c15 FROM 
(SELECT c9, c10, c11, c12 FROM 
(SELECT "trace" AS c9, "type" AS c8, "at" AS c10, "seed" AS c11, "version" AS c12, "family" AS c7 FROM "silver/events") WHERE ((c7 IN ('run')) AND (c8 IN ('run.started')))) GROUP BY c9)) ON (c4 = c9)))) LEFT JOIN 
(SELECT * FROM 
(SELECT c18, max(c19) AS c20 FROM 
(SELECT c18, c19 FROM 
(SELECT "trace" AS c18, "type" AS c17, "at" AS c19, "family" AS c16 FROM "silver/events") WHERE ((c16 IN ('run')) AND (c17 IN ('run.ended')))) GROUP BY c18)) ON (c4 = c18)))) LEFT JOIN 
(SELECT * FROM 
(SELECT c21, count(1) AS c23, count(1) FILTER (WHERE (c22 = 'not converged')) AS c24, count(1) FILTER (WHERE (c22 = 'unknown')) AS c25 FROM 
(SELECT "trace" AS c21, "judgement" AS c22 FROM "gold/verdicts") GROUP BY c21)) ON (c4 = c21)))) LEFT JOIN 
(SELECT * FROM 
(SELECT c26, wrapped(sum(c27)) AS c28 FROM 
(SELECT "trace" AS c26, "violations" AS c27 FROM "gold/rules") GROUP BY c26)) ON (c4 = c26)))) LEFT JOIN 
(SELECT * FROM 
(SELECT c29, count(1) AS c30 FROM 
(SELECT "trace" AS c29 FROM "evidence/doubts") GROUP BY c29)) ON (c4 = c29))))))) WHERE ((c1 > (0)::BIGINT) OR (c2 = (0)::BIGINT))))));

-- published verdicts
SELECT c1 AS "trace", c2 AS "folder", c3 AS "path", c4 AS "holders", c5 AS "judgement", c6 AS "wrong", c7 AS "reasons" FROM (SELECT c1, c2, c3, c4, c5, c6, c7 FROM 
(SELECT "trace" AS c1, "folder" AS c2, "path" AS c3, "holders" AS c4, "judgement" AS c5, "wrong" AS c6, "reasons" AS c7 FROM "gold/verdicts"));

-- published mismatches
SELECT c1 AS "trace", c2 AS "folder", c4 AS "path", c5 AS "object", c3 AS "store", c6 AS "kind", c7 AS "subject", c8 AS "what", c9 AS "number" FROM (SELECT c1, c2, c4, c5, c3, c6, c7, c8, c9 FROM 
(SELECT "trace" AS c1, "folder" AS c2, "store" AS c3, "path" AS c4, "object" AS c5, "kind" AS c6, "subject" AS c7, "what" AS c8, "number" AS c9 FROM "gold/mismatches"));

-- published losses
SELECT c1 AS "trace", c2 AS "folder", c3 AS "path", c4 AS "object", c6 AS "number", c5 AS "subject" FROM (SELECT c1, c2, c3, c4, c6, c5 FROM 
(SELECT "trace" AS c1, "folder" AS c2, "path" AS c3, "object" AS c4, "subject" AS c5, "number" AS c6 FROM "gold/losses"));

-- published rules
SELECT c1 AS "trace", c7 AS "rule_check", c3 AS "consumed", c4 AS "violations", c8 AS "at", c6 AS "witness" FROM (SELECT c1, c7, c3, c4, CASE WHEN ((c5 >= (-62135596800000000)::BIGINT) AND (c5 <= 253402300799999999::BIGINT)) THEN make_timestamp(c5) END AS c8, c6 FROM 
(SELECT c1, c2 AS c7, c3, c4, c5, c6 FROM 
(SELECT "trace" AS c1, "check" AS c2, "consumed" AS c3, "violations" AS c4, "at" AS c5, "witness" AS c6 FROM "gold/rules")));

-- published doubts
SELECT c1 AS "trace", c2 AS "doubt" FROM (SELECT c1, c2 FROM 
(SELECT "trace" AS c1, "doubt" AS c2 FROM "evidence/doubts"));

-- published servers
SELECT c1 AS "trace", c2 AS "store", c3 AS "site", c4 AS "version", c5 AS "later" FROM (SELECT * FROM 
(SELECT "trace" AS c1, "store" AS c2, "site" AS c3, "version" AS c4, "later" AS c5 FROM "organization/servers"));

-- published guids
SELECT c1 AS "trace", c2 AS "guid", c3 AS "store", c4 AS "name" FROM (SELECT c1, c2, c3, c4 FROM 
(SELECT "trace" AS c1, "guid" AS c2, "store" AS c3, "name" AS c4 FROM "organization/guids"));

-- published genesis
SELECT c1 AS "trace", c15 AS "start_at", c3 AS "n", c4 AS "path", c5 AS "name", c6 AS "parent_path", c7 AS "replicas", c8 AS "schedule", c9 AS "resolve", c10 AS "priority", c11 AS "contacts", c14 AS "setup" FROM (SELECT c1, CASE WHEN ((c2 >= (-62135596800000000)::BIGINT) AND (c2 <= 253402300799999999::BIGINT)) THEN make_timestamp(c2) END AS c15, c3, c4, c5, c6, c7, c8, c9, c10, c11, c14 FROM 
(SELECT c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c14 FROM 
(SELECT * FROM 
(SELECT * FROM 
(SELECT "trace" AS c1, "start_at" AS c2, "n" AS c3, "path" AS c4, "name" AS c5, "parent_path" AS c6, "replicas" AS c7, "schedule" AS c8, "resolve" AS c9, "priority" AS c10, "contacts" AS c11 FROM "organization/genesis")) LEFT JOIN 
(SELECT * FROM 
(SELECT c12, c13 AS c14 FROM 
(SELECT "trace" AS c12, "guid" AS c13 FROM "organization/setup"))) ON (c1 = c12))));

-- published costs
SELECT c1 AS "trace", c2 AS "revision", c3 AS "node", c4 AS "store", c5 AS "cost", c6 AS "affinity" FROM (SELECT * FROM 
(SELECT "trace" AS c1, "revision" AS c2, "node" AS c3, "store" AS c4, "cost" AS c5, "affinity" AS c6 FROM "organization/costs"));

-- published folders
SELECT c1 AS "trace", c2 AS "folder", c3 AS "path", c4 AS "holders", c5 AS "doubtful" FROM (SELECT c1, c2, c3, c4, c5 FROM 
(SELECT "trace" AS c1, "folder" AS c2, "path" AS c3, "holders" AS c4, "doubtful" AS c5 FROM "evidence/folders"));

-- published versions
SELECT c1 AS "trace", c2 AS "store", c3 AS "folder", c4 AS "object", c5 AS "act", c6 AS "seq", c24 AS "at", c8 AS "kind", c9 AS "number", c10 AS "guid", c11 AS "counter", c12 AS "pcl", c13 AS "rivals", c25 AS "modified_at", c15 AS "digest", c16 AS "deleted", c17 AS "subject", c18 AS "supersedes", c19 AS "replicas", c20 AS "parent", c21 AS "way", c22 AS "undone", c23 AS "dropped" FROM (SELECT c1, c2, c3, c4, c5, c6, CASE WHEN ((c7 >= (-62135596800000000)::BIGINT) AND (c7 <= 253402300799999999::BIGINT)) THEN make_timestamp(c7) END AS c24, c8, c9, c10, c11, c12, c13, CASE WHEN ((c14 >= (-62135596800000000)::BIGINT) AND (c14 <= 253402300799999999::BIGINT)) THEN make_timestamp(c14) END AS c25, c15, c16, c17, c18, c19, c20, c21, c22, c23 FROM 
(SELECT "trace" AS c1, "store" AS c2, "folder" AS c3, "object" AS c4, "act" AS c5, "seq" AS c6, "at" AS c7, "kind" AS c8, "number" AS c9, "guid" AS c10, "counter" AS c11, "pcl" AS c12, "rivals" AS c13, "modified_at" AS c14, "digest" AS c15, "deleted" AS c16, "subject" AS c17, "supersedes" AS c18, "replicas" AS c19, "parent" AS c20, "way" AS c21, "undone" AS c22, "dropped" AS c23 FROM "evidence/versions"));

-- published objects
SELECT c1 AS "trace", c2 AS "folder", c3 AS "object", c4 AS "kind", c5 AS "subject", c7 AS "alone", c8 AS "tombstone", c12 AS "forgotten", c14 AS "made", c15 AS "versions", c17 AS "lost", c18 AS "gone", c19 AS "states" FROM (SELECT c1, c2, c3, c4, c5, c7, c8, c12, list_sort(c6, 'ASC', 'NULLS LAST') AS c14, list_transform(list_sort(list_transform(c9, lambda v16: {k: CASE WHEN v16 IS NOT NULL THEN {n0: (v16)."number" IS NOT NULL, v0: (v16)."number", n1: (v16)."guid" IS NOT NULL, v1: (v16)."guid", n2: (v16)."counter" IS NOT NULL, v2: (v16)."counter", n3: (v16)."digest" IS NOT NULL, v3: (v16)."digest"} END, v: v16}), 'ASC', 'NULLS LAST'), lambda v16: v16.v) AS c15, list_sort(c10, 'ASC', 'NULLS LAST') AS c17, list_sort(c11, 'ASC', 'NULLS LAST') AS c18, list_transform(list_transform(list_sort(list_transform(c13, lambda v21: {k: CASE WHEN v21 IS NOT NULL THEN {n0: (v21)."store" IS NOT NULL, v0: (v21)."store", n1: (v21)."versions" IS NOT NULL, v1: list_transform((v21)."versions", lambda v21versions_item: {n: v21versions_item IS NOT NULL, v: CASE WHEN v21versions_item IS NOT NULL THEN {n0: (v21versions_item)."number" IS NOT NULL, v0: (v21versions_item)."number", n1: (v21versions_item)."guid" IS NOT NULL, v1: (v21versions_item)."guid", n2: (v21versions_item)."counter" IS NOT NULL, v2: (v21versions_item)."counter", n3: (v21versions_item)."digest" IS NOT NULL, v3: (v21versions_item)."digest"} END}), n2: (v21)."has_tombstone" IS NOT NULL, v2: (v21)."has_tombstone", n3: (v21)."had_tombstone" IS NOT NULL, v3: (v21)."had_tombstone"} END, v: v21}), 'ASC', 'NULLS LAST'), lambda v21: v21.v), lambda v20: {'store': (v20)."store", 'versions': list_transform(list_sort(list_transform((v20)."versions", lambda v22: {k: CASE WHEN v22 IS NOT NULL THEN {n0: (v22)."number" IS NOT NULL, v0: (v22)."number", n1: (v22)."guid" IS NOT NULL, v1: (v22)."guid", n2: (v22)."counter" IS NOT NULL, v2: (v22)."counter", n3: (v22)."digest" IS NOT NULL, v3: (v22)."digest"} END, v: v22}), 'ASC', 'NULLS LAST'), lambda v22: v22.v), 'has_tombstone': (v20)."has_tombstone", 'had_tombstone': (v20)."had_tombstone"}) AS c19 FROM 
(SELECT "trace" AS c1, "folder" AS c2, "object" AS c3, "kind" AS c4, "subject" AS c5, "made" AS c6, "alone" AS c7, "tombstone" AS c8, "versions" AS c9, "lost" AS c10, "gone" AS c11, "forgotten" AS c12, "states" AS c13 FROM "evidence/objects"));

-- published mails
SELECT c1 AS "trace", c2 AS "mail", c3 AS "store", c4 AS "sender", c5 AS "message_type", c6 AS "size", c7 AS "number", c8 AS "marks", c18 AS "submitted_at", c19 AS "received_at", c11 AS "times", c20 AS "dropped_at", c13 AS "fault", c21 AS "expired_at", c22 AS "deleted_at", c23 AS "bad_at", c17 AS "reason" FROM (SELECT c1, c2, c3, c4, c5, c6, c7, c8, CASE WHEN ((c9 >= (-62135596800000000)::BIGINT) AND (c9 <= 253402300799999999::BIGINT)) THEN make_timestamp(c9) END AS c18, CASE WHEN ((c10 >= (-62135596800000000)::BIGINT) AND (c10 <= 253402300799999999::BIGINT)) THEN make_timestamp(c10) END AS c19, c11, CASE WHEN ((c12 >= (-62135596800000000)::BIGINT) AND (c12 <= 253402300799999999::BIGINT)) THEN make_timestamp(c12) END AS c20, c13, CASE WHEN ((c14 >= (-62135596800000000)::BIGINT) AND (c14 <= 253402300799999999::BIGINT)) THEN make_timestamp(c14) END AS c21, CASE WHEN ((c15 >= (-62135596800000000)::BIGINT) AND (c15 <= 253402300799999999::BIGINT)) THEN make_timestamp(c15) END AS c22, CASE WHEN ((c16 >= (-62135596800000000)::BIGINT) AND (c16 <= 253402300799999999::BIGINT)) THEN make_timestamp(c16) END AS c23, c17 FROM 
(SELECT "trace" AS c1, "mail" AS c2, "store" AS c3, "sender" AS c4, "message_type" AS c5, "size" AS c6, "number" AS c7, "marks" AS c8, "submitted_at" AS c9, "received_at" AS c10, "times" AS c11, "dropped_at" AS c12, "fault" AS c13, "expired_at" AS c14, "deleted_at" AS c15, "bad_at" AS c16, "reason" AS c17 FROM "evidence/mails"));

-- published mail_folders
SELECT c1 AS "trace", c2 AS "mail", c3 AS "sender", c10 AS "at", c5 AS "message_type", c6 AS "folder", c7 AS "updates", c8 AS "stands_for", c9 AS "row" FROM (SELECT c1, c2, c3, CASE WHEN ((c4 >= (-62135596800000000)::BIGINT) AND (c4 <= 253402300799999999::BIGINT)) THEN make_timestamp(c4) END AS c10, c5, c6, c7, c8, c9 FROM 
(SELECT "trace" AS c1, "mail" AS c2, "sender" AS c3, "at" AS c4, "message_type" AS c5, "folder" AS c6, "updates" AS c7, "stands_for" AS c8, "row" AS c9 FROM "evidence/mail_folders"));
