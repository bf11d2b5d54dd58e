ALTER TABLE doors ADD COLUMN colour text;
