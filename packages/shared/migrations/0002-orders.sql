create table orders (
  id integer generated always as identity primary key,
  tea integer not null references teas deferrable initially deferred,
  grams integer not null
);
