-- First in a transaction: all that it reads is of one instant.
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
