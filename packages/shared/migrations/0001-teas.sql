create table teas (
  id integer generated always as identity primary key,
  name text not null,
  grams integer not null check (grams >= 0)
);
insert into teas (name, grams) values ('Assam', 1000);
