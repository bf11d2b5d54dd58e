UPDATE cms.articles SET status = 1;
UPDATE articles SET status = 1;
UPDATE other.articles SET status = 1;
