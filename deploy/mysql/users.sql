-- Run once on each server, primary or replica, when its data folder is made.
-- The passwords are for the network inside docker compose, from which no MySQL
-- port is published. Elsewhere: others, here, in replica-of-*.sql and in the topology.

-- Each server has users of its own: none of this is replicated.
SET SESSION sql_log_bin = 0;

-- The API: the databases of shards (db00000), mod shards (mod00000), feeds (feed00000) and queue shards (queue00000), and no other but corkboard,
-- who uses tables of jobs, and how far a replica is behind: what `corkboard grants show` prints.
CREATE USER corkboard_api@'%' IDENTIFIED BY 'corkboard';
GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER ON `db_____`.* TO corkboard_api@'%';
GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER ON `mod_____`.* TO corkboard_api@'%';
GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER ON `feed_____`.* TO corkboard_api@'%';
GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER ON `corkboard`.* TO corkboard_api@'%';
GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, DROP, LOCK TABLES ON `queue_____`.* TO corkboard_api@'%';
GRANT SELECT ON performance_schema.metadata_locks TO corkboard_api@'%';
GRANT SELECT ON performance_schema.setup_instruments TO corkboard_api@'%';
GRANT REPLICATION CLIENT ON *.* TO corkboard_api@'%';

CREATE USER corkboard_replica@'%' IDENTIFIED BY 'corkboard';
GRANT REPLICATION SLAVE ON *.* TO corkboard_replica@'%';

-- The health check, from inside the container alone; it sees whether replication runs, and no data.
CREATE USER corkboard_health@'127.0.0.1';
GRANT SELECT ON performance_schema.replication_connection_status TO corkboard_health@'127.0.0.1';
GRANT SELECT ON performance_schema.replication_applier_status TO corkboard_health@'127.0.0.1';

SET SESSION sql_log_bin = 1;

-- A pair begins with the same history: none.
RESET BINARY LOGS AND GTIDS;
