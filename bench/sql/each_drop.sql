DROP TABLE IF EXISTS each_worker, each_cell;
