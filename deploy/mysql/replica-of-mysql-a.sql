-- Run once on mysql-a-replica, after users.sql. The server that runs it takes no
-- connections; replication begins by itself with the next start, and every one
-- after it.
CHANGE REPLICATION SOURCE TO
	SOURCE_HOST = 'mysql-a',
	SOURCE_PORT = 3306,
	SOURCE_USER = 'corkboard_replica',
	SOURCE_PASSWORD = 'corkboard',
	SOURCE_AUTO_POSITION = 1,
	SOURCE_CONNECT_RETRY = 1,
	-- Without a limit: the default of 10 gives up on a primary that is away for a minute.
	SOURCE_RETRY_COUNT = 0,
	GET_SOURCE_PUBLIC_KEY = 1;

-- From the next start on, and not as an option of the command: with that, the
-- users could not be made, and no promotion would outlive a restart.
SET PERSIST_ONLY super_read_only = ON;
