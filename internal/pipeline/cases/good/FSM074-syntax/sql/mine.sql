UPDATE doors SET note = NULL;
