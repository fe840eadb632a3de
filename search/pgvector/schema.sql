CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public;
CREATE TABLE format (name text NOT NULL);
CREATE TABLE roots (
  id uuid PRIMARY KEY,
  name bytea NOT NULL, -- a path need not be UTF-8
  generation bigint NOT NULL,
  chunking text NOT NULL,
  embedder text NOT NULL,
  lengths bigint NOT NULL, -- sum over the files
  terms bytea -- how many chunks hold each term
);
CREATE TABLE files (
  id uuid PRIMARY KEY,
  root uuid NOT NULL,
  source text NOT NULL,
  data bytea NOT NULL,
  version bigint NOT NULL,
  chunks int NOT NULL,
  terms int[] STORAGE MAIN NOT NULL, -- a number made of each term
  counts smallint[] STORAGE MAIN NOT NULL, -- how often, in their order
  length int NOT NULL -- number of terms
);
CREATE INDEX ON files (root) INCLUDE (length);
CREATE INDEX ON files USING gin (terms);
-- Only the terms stay in the row, because searches read many of them.
CREATE TABLE chunks (
  id uuid PRIMARY KEY,
  root uuid NOT NULL,
  file uuid NOT NULL,
  public text NOT NULL,
  version bigint NOT NULL,
  ordinal int NOT NULL,
  source text NOT NULL,
  title text NOT NULL,
  headings text NOT NULL,
  text text NOT NULL,
  hash text NOT NULL,
  data bytea NOT NULL,
  words text NOT NULL, -- the terms, separated by spaces
  terms int[] STORAGE MAIN NOT NULL,
  counts smallint[] STORAGE MAIN NOT NULL,
  length int NOT NULL
);
CREATE INDEX ON chunks (root);
CREATE INDEX ON chunks (file);
CREATE INDEX ON chunks (public);
CREATE INDEX ON chunks USING gin (terms);
CREATE TABLE embedders (
  id int PRIMARY KEY GENERATED ALWAYS AS IDENTITY, -- its vectors are in the table vectors_ID
  spec text NOT NULL UNIQUE
);
