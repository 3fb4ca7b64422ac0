#!/bin/sh
# Runs once, as the database is made: the group roles of `ahs migrate --roles`, and a user that logs in for each.
set -eu
for process in index serve work; do
  psql --no-psqlrc --set=ON_ERROR_STOP=1 --username="$POSTGRES_USER" --dbname="$POSTGRES_DB" \
    --set=group="ahs_$process" --set=user="${process}_process" \
    --set=password="$(cat "/run/secrets/database_$process")" <<'SQL'
create role :"group" nologin;
create role :"user" login password :'password' in role :"group";
alter role :"user" set role = :"group";
alter role :"user" set search_path = pg_catalog;
SQL
done
