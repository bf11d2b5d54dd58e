-- fsmgen:allowance is another word
-- see fsmgen:allow
SELECT 1;
